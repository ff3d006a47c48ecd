"""The cache on disk, and the same bits without the compiler."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import rosenblatt
from machine_code.platforms import PLATFORMS
from rosenblatt.kernels.binary import activations, binary_pass
from rosenblatt.kernels.compiling.compiler import (
    compile_kernel,
    numba_type,
    symbol_for,
    typed_kernel,
)
from rosenblatt.kernels.compiling.machine import processor
from rosenblatt.kernels.counts import NO_LOG, empty_log
from rosenblatt.kernels.finite import first_not_finite
from rosenblatt.kernels.multiclass import multiclass_pass
from rosenblatt.kernels.rows import Dense
from rosenblatt.rules import PA1, RULES, Perceptron, Rule
from tests.examples import FORMATS
from tests.processes import printed

PACKAGE = Path(rosenblatt.__file__).parent

FIND = """
import sys
import numpy as np
from rosenblatt.kernels.finite import first_not_finite
print(first_not_finite(np.array([0, np.inf], np.DTYPE)), "numba" in sys.modules)
"""

FIT = """
import json
import sys
import numpy as np
from rosenblatt.kernels.binary import binary_pass
from rosenblatt.kernels.counts import NO_LOG
from rosenblatt.kernels.rows import Dense
from rosenblatt.rules import Perceptron
w = np.zeros(2)
y, order, none = np.array([1], np.int32), np.zeros(1, np.int64), np.empty(0)
rows = Dense(np.ones((1, 1)), 1.0)
binary_pass(rows, y, none, order, Perceptron(1.0), 0, w, none, 1, NO_LOG)
print(json.dumps({"w": w.tolist(), "compiled": "numba" in sys.modules}))
"""

EVERYTHING = """
import json, sys
import numpy as np
from rosenblatt.rules import RULES
from rosenblatt.training.examples import Examples
from rosenblatt.tasks.leads import targets_of
from rosenblatt.training.loop import EarlyStopping, Plan
from rosenblatt.training.state import State, fit
from tests.examples import csr, dense

rng = np.random.default_rng(7)
values = rng.standard_normal((40, 37)) * (rng.random((40, 37)) < 0.6)
counts = (rng.poisson(1.5, (40, 37)) * (rng.random((40, 37)) < 0.6)).tolist()
ones = (np.array(counts) > 0).astype(int).tolist()
kinds = {
    "float64": (values.tolist(), np.float64),
    "float32": (values.astype(np.float32).tolist(), np.float32),
    "counts": (counts, np.float64), "float32 counts": (counts, np.float32),
    "bytes": (counts, np.uint8), "ones": (ones, np.float64), "byte ones": (ones, np.uint8),
    "bare ones": (ones, bool),
}
found = {}
for name in sys.argv[1:]:
    rule = RULES[name].rule({"eta0": 0.7, "margin": 0.3, "C": 0.5, "r": 0.7, "confidence": 0.8})
    for n_classes in (2, 21):
        labels = rng.integers(0, n_classes, 40)
        for kind, (rows, dtype) in kinds.items():
            for form in (csr,) if dtype is bool else (dense, csr):
                uncertain = RULES[name].order == 2
                state = State.zeros(37, n_classes, averaged=True, uncertain=uncertain)
                early_stopping = EarlyStopping() if n_classes == 2 else None
                plan = Plan(rule, 2, early_stopping=early_stopping)
                examples = Examples(form(rows, dtype=dtype), targets_of(labels, n_classes))
                outcome = fit(state, examples, plan, np.random.default_rng(1))
                weights = [state.weights, state.average(), *([state.variance] * uncertain)]
                history = [(one.loss.hex(), one.validation_score) for one in outcome.history]
                bits = [part.tobytes().hex() for part in weights]
                found[f"{n_classes} {form.__name__} {kind}"] = [bits, history]
print(json.dumps(found))
"""


@pytest.mark.parametrize("rule", RULES)
def test_plain_python_gives_the_same_bits(rule: str) -> None:
    """With ROSENBLATT_PLAIN=1 weights, losses and scores are those of the compiled passes.

    Steps are real numbers for every rule, so that sums depend on their order; and how values are
    stored, in eight bytes, four, one or not at all, changes no bit.
    """
    compiled = json.loads(printed(EVERYTHING, rule))
    assert len(compiled) == 30
    assert json.loads(printed(EVERYTHING, rule, ROSENBLATT_PLAIN="1")) == compiled
    for rows in ("2 dense", "2 csr", "21 dense", "21 csr"):
        eight, *fewer = (compiled[f"{rows} {k}"] for k in ("counts", "float32 counts", "bytes"))
        assert fewer == [eight, eight]
        assert compiled[f"{rows} ones"] == compiled[f"{rows} byte ones"] != eight
        if rows.endswith("csr"):
            assert compiled[f"{rows} bare ones"] == compiled[f"{rows} ones"]


LEVELS = """
import json
import numpy as np
from rosenblatt.kernels.binary import binary_pass
from rosenblatt.kernels.counts import NO_LOG
from rosenblatt.kernels.rows import CSR, Dense
from rosenblatt.rules import PA1
rng = np.random.default_rng(3)
values = rng.standard_normal((50, 37))
y, order = rng.choice([-1, 1], 50).astype(np.int32), rng.permutation(50)
indptr = np.arange(0, 51 * 37, 37)
csr = CSR(values.ravel(), np.tile(np.arange(37, dtype=np.int32), 50), indptr, 37, 1.0)
found = []
for rows in (Dense(values, 1.0), csr):
    w, u = np.zeros(38), np.zeros(38)
    counts = binary_pass(rows, y, np.empty(0), order, PA1(0.3), 0, w, u, 1, NO_LOG)
    found.append([w.tobytes().hex(), u.tobytes().hex(), float(counts.loss).hex()])
print(json.dumps(found))
"""


def test_every_level_of_processor_gives_the_same_bits() -> None:
    """What the same kernels compute for x86-64-v2 and for v3 does not differ in one bit."""
    if processor() != "x86-64-v3":
        pytest.skip("this processor has no two levels of a package")
    assert printed(LEVELS) == printed(LEVELS, ROSENBLATT_PROCESSOR="x86-64-v2")


def test_a_processor_that_this_machine_is_not() -> None:
    """ROSENBLATT_PROCESSOR with another name is an error with a sentence, not an abort."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", LEVELS],
        env={**os.environ, "ROSENBLATT_PROCESSOR": "nonsense"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("rosenblatt.errors.InputError: ROSENBLATT_PROCESSOR must be ")
    assert last.endswith(" on this machine; got 'nonsense'.")


def test_a_kernel_is_typed_once_for_all_platforms() -> None:
    """One typing gives an object file for each level of each platform, as its system has them."""
    targets = [target for platform in PLATFORMS.values() for target in platform.targets]
    result, objects = compile_kernel(
        first_not_finite.__wrapped__,  # type: ignore[attr-defined]
        numba_type((np.zeros(3),)),
        "kernel",
        *targets,
    )
    assert result == "int64"
    assert list(objects) == targets
    assert len(set(objects.values())) == len(targets) == 8
    heads = {"linux": b"\x7fELF", "apple": b"\xcf\xfa\xed\xfe", "windows": b"\x64\x86"}
    for target, data in objects.items():
        (head,) = (heads[system] for system in heads if system in target.triple)
        assert data.startswith(head)
        assert symbol_for("kernel", target).encode() in data


@pytest.fixture
def package_copy(tmp_path: Path) -> Path:
    """Return a copy of the package that may be edited."""
    shutil.copytree(PACKAGE, tmp_path / "rosenblatt")
    return tmp_path


def test_the_cache_is_used_and_never_stale(package_copy: Path, tmp_path: Path) -> None:
    """A second process compiles nothing; an edit of a rule in another file is compiled anew."""
    environment = {"PYTHONPATH": str(package_copy), "ROSENBLATT_CACHE": str(tmp_path / "cache")}
    first = json.loads(printed(FIT, **environment))
    assert first == {"w": [1.0, 1.0], "compiled": True}
    assert json.loads(printed(FIT, **environment)) == {"w": [1.0, 1.0], "compiled": False}

    rule = package_copy / "rosenblatt" / "rules" / "perceptron.py"
    text = rule.read_text()
    edited = text.replace("0.0 if margin > 0.0 else self.eta0", "0.0 if margin > 0.0 else 3.0")
    assert edited != text
    rule.write_text(edited)
    assert json.loads(printed(FIT, **environment)) == {"w": [3.0, 3.0], "compiled": True}


def test_processes_that_compile_at_once(tmp_path: Path) -> None:
    """Each of several signatures compiled at the same time is answered with its own code."""
    codes = [FIND.replace("DTYPE", name) for name in ("float64", "float32")]
    environment = {**os.environ, "ROSENBLATT_CACHE": str(tmp_path)}
    started = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.DEVNULL)  # noqa: S603
        for code in codes
    ]
    assert [process.wait() for process in started] == [0] * len(codes)
    for code in codes:
        assert printed(code, ROSENBLATT_CACHE=str(tmp_path)) == "1 False\n"


@pytest.mark.parametrize("form", sorted(FORMATS))
@pytest.mark.parametrize("rule", [Perceptron(1.0), PA1(1.0)])
def test_inner_loops_count_no_references(form: str, rule: Rule) -> None:
    """No array's references are counted for each row; that once took longer than the row itself."""
    rows = FORMATS[form]([[1.0, 2.0], [3.0, 4.0]])
    y, order, none = np.ones(2, np.int32), np.zeros(2, np.int64), np.empty(0)
    scores, shape, log = np.empty(3), (3, 3), empty_log(2)
    several = (rows, y, none, order, rule, 0, scores, np.zeros(shape), np.zeros(shape))
    for kernel, arguments in (
        (binary_pass, (rows, y, none, order, rule, 0, np.zeros(3), np.zeros(3), 1, log)),
        (multiclass_pass, (*several, 1, log)),
    ):
        code = typed_kernel(kernel, numba_type(arguments)).code
        assert not re.findall(r"call.*@NRT_(incref|decref)", code)


def test_other_users_of_numba_are_left_alone() -> None:
    """Code of others that numba compiles in the same process runs, before and after ours."""
    numba = pytest.importorskip("numba")

    def lowest(values: NDArray[Any]) -> Any:
        made = np.ones(3)  # counted by its references
        for value in values:
            made[0] = min(made[0], value)
        if made[0] < 0:
            raise ValueError
        return made

    before = numba.njit(lowest)
    assert before(np.array([0.5, 0.25])).tolist() == [0.25, 1.0, 1.0]
    arguments = (Dense(np.ones((1, 1)), 1.0), np.zeros(2), np.zeros(1))
    typed_kernel(activations, numba_type(arguments))
    after = numba.njit(lowest)
    assert after(np.array([0.5, 0.25])).tolist() == [0.25, 1.0, 1.0]
    with pytest.raises(ValueError):  # noqa: PT011  # it has no words
        after(np.array([-1.0]))


@pytest.mark.parametrize("argument", ["w", "u", "log"])
def test_read_only_arrays_are_not_written_to(argument: str) -> None:
    """A kernel refuses a read-only array that it would write to, before and after a call."""
    w, u, log = np.zeros(2), np.zeros(2), empty_log(1)
    written = {"w": [w], "u": [u], "log": list(log)}[argument]
    rows, y = Dense(np.ones((1, 1)), 1.0), np.array([1], np.int32)
    given = (rows, y, np.empty(0), np.zeros(1, np.int64))
    binary_pass(*given, Perceptron(1.0), 0, w, u, 1, log)
    before = w.copy()
    for array in written:
        array.flags.writeable = False
    with pytest.raises(ValueError, match=f"binary_pass writes to its argument {argument}, and"):
        binary_pass(*given, Perceptron(1.0), 0, w, u, 1, log)
    assert np.array_equal(w, before)


def test_read_only_rows_are_learned_from() -> None:
    """What a kernel only reads may be read-only, as memory of other processes is."""
    rows, y, order = np.ones((1, 1)), np.array([1], np.int32), np.zeros(1, np.int64)
    for array in (rows, y, order):
        array.flags.writeable = False
    w, none = np.zeros(2), np.empty(0)
    binary_pass(Dense(rows, 1.0), y, none, order, Perceptron(1.0), 0, w, none, 1, NO_LOG)
    assert w.tolist() == [1.0, 1.0]


def test_kernels_declare_what_they_write_to() -> None:
    """Every argument of a kernel that its code assigns elements of is annotated Changed."""
    for path in sorted((PACKAGE / "kernels").rglob("*.py")):
        for kernel in ast.parse(path.read_text()).body:
            if not isinstance(kernel, ast.FunctionDef) or "compiled" not in [
                decorator.id
                for decorator in kernel.decorator_list
                if isinstance(decorator, ast.Name)
            ]:
                continue
            declared = {
                argument.arg: argument.annotation and "Changed" in ast.unparse(argument.annotation)
                for argument in kernel.args.args
            }
            for name in _assigned(kernel) & set(declared):
                assert declared[name], f"{path.name}: {kernel.name} writes to {name}"


def _assigned(kernel: ast.FunctionDef) -> set[str]:
    """Return the names whose elements, or whose fields' elements, are assigned."""
    found = set()
    for node in ast.walk(kernel):
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            value: ast.AST = node
            while isinstance(value, (ast.Subscript, ast.Attribute)):
                value = value.value
            if isinstance(value, ast.Name):
                found.add(value.id)
    return found
