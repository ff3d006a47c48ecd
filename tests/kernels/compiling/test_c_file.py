"""The C file: not needed, never used when stale, and its kernels tried before they are trusted."""

import ctypes
import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rosenblatt
from rosenblatt.kernels.compiling import calling, machine
from rosenblatt.kernels.compiling.function import CompiledFunction
from rosenblatt.kernels.compiling.machine import source_digest
from rosenblatt.kernels.compiling.signatures import symbol_of
from rosenblatt.kernels.compiling.trial import agrees
from rosenblatt.kernels.finite import first_not_finite
from tests.processes import printed

LEARN = """
import json
import numpy as np
from rosenblatt import OnlineLearner, Perceptron
from rosenblatt.kernels.compiling.calling import calls
learner, clf, answers = OnlineLearner("pa1"), Perceptron(), []
for k in range(60):
    row, label = {"a": k % 7, "b": k % 5 - 2.5, "c": k % 3, "d": 0.1 * k}, bool(k % 2)
    learner.learn_one(row, label)
    clf.partial_fit([[*row.values()]], [label], classes=[False, True])
    answers.append([learner.predict_one(row), bool(clf.predict([[*row.values()]])[0])])
weights = np.concatenate([learner.to_estimator().coef_, clf.coef_])
print(json.dumps([calls, answers, weights.tobytes().hex()]))
"""


def test_without_the_module_and_with_a_stale_one(tmp_path: Path) -> None:
    """By ctypes rows are learned and decided alike; a module of another C file is not used."""
    calls, *learned = json.loads(printed(LEARN))
    assert calls == calling.calls
    copy = tmp_path / "rosenblatt"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(rosenblatt.__file__).parent, copy, ignore=ignored)
    if calling.machine is not None:
        with (copy / "_machine.c").open("a") as file:
            file.write("/* changed */\n")
        calls, *found = json.loads(printed(LEARN, PYTHONPATH=str(tmp_path)))
        assert calls == "ctypes, slowly: _machine.c has changed since it was compiled"
        assert found == learned
    for path in (*copy.glob("_machine*.so"), *copy.glob("_machine*.pyd")):
        path.unlink()
    calls, *found = json.loads(printed(LEARN, PYTHONPATH=str(tmp_path)))
    assert calls == "ctypes, slowly: _machine.c is not compiled for this Python"
    assert found == learned


class LinkedKernels:
    """Stands in for a module that has kernels linked in."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.codes: dict[str, Any] = {}  # by symbol
        self.asked: list[str] = []
        if calling.machine is None:
            pytest.skip(f"kernels are called by {calling.calls}")
        linked = {"n_kernels": 1, "kernel_sources": source_digest(), "kernel": self._kernel}
        module = SimpleNamespace(**(vars(calling.machine) | linked))
        monkeypatch.setattr(calling, "machine", module)
        monkeypatch.setattr(machine, "_loaded", {})
        monkeypatch.setattr(machine, "_trusted", None)
        for cached in (machine._linked_kernels, machine.machine_code_source):  # noqa: SLF001
            cached.cache_clear()

    def _kernel(self, symbol: str, level: str) -> tuple[int, str] | None:
        assert level == machine.processor()
        self.asked.append(symbol)
        code = self.codes.get(symbol)
        return code and (code.address, code.result)


@pytest.fixture
def linked(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Yield a stand-in; afterwards nothing remembers it."""
    agrees()  # what is linked here was compiled before
    first_not_finite(np.zeros(3))
    codes = {symbol_of(name): code for name, code in machine._loaded.items()}  # noqa: SLF001
    made = LinkedKernels(monkeypatch)
    made.codes = codes
    yield made
    monkeypatch.undo()
    for cached in (machine._linked_kernels, machine.machine_code_source):  # noqa: SLF001
        cached.cache_clear()


def look() -> int:
    """Run a kernel that has not been called."""
    kernel = CompiledFunction(first_not_finite.__wrapped__)  # type: ignore[attr-defined]
    return int(kernel(np.array([0.0, np.inf, 0.0])))


def test_linked_kernels_are_used_after_a_trial(linked: LinkedKernels) -> None:
    """The first kernel that is asked for waits for a pass that gives the bits of plain Python."""
    assert machine.machine_code_source() == "package"
    assert look() == 1
    assert len(linked.asked) == 2
    assert machine._trusted  # noqa: SLF001
    assert look() == 1
    assert len(linked.asked) == 2  # and not again


def test_linked_kernels_that_differ_are_not_used(linked: LinkedKernels) -> None:
    """Where the pass gives other bits there is one warning, and the compiler's code runs."""
    leave = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(lambda _: calling.DONE)
    wrong = ctypes.cast(leave, ctypes.c_void_p).value
    for symbol, code in linked.codes.items():
        linked.codes[symbol] = code._replace(address=wrong)
    with pytest.warns(
        RuntimeWarning, match="does not compute what plain Python computes"
    ) as warned:
        assert look() == 1
    assert len(warned) == 1
    assert machine.machine_code_source() == "compiler"
    asked = len(linked.asked)
    assert look() == 1
    assert agrees()
    assert len(linked.asked) == asked


def test_linked_kernels_of_other_sources_are_not_used(
    linked: LinkedKernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a checkout kernels that are older than the Python files are not asked for."""
    monkeypatch.setattr(calling.machine, "kernel_sources", "0" * 64)
    assert machine.machine_code_source() == "compiler"
    assert look() == 1
    assert not linked.asked


def test_the_trial_is_one_of_every_package() -> None:
    """The pass that is tried is one that the tour finds, so a wheel has it."""
    from machine_code.recording import recording
    from rosenblatt import PassiveAggressiveClassifier

    with recording() as calls:
        PassiveAggressiveClassifier(max_iter=1).fit(np.eye(4), [0, 1, 0, 1])
    with recording() as trial:
        assert agrees()
    assert len(trial) == 1
    assert set(trial) <= set(calls)
