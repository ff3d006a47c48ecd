"""Machine code in new processes: found, loaded, refused, made anew, done without."""

# what is loaded is asked where no user reaches

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import sparse

import rosenblatt
from machine_code.linking import link_module
from machine_code.platforms import PLATFORMS, this_platform
from machine_code.recording import recording
from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron
from rosenblatt.cli import main
from rosenblatt.kernels.compiling.cache import packed
from rosenblatt.kernels.compiling.compiler import compile_kernel, symbol_for
from rosenblatt.kernels.compiling.machine import processor, source_digest
from rosenblatt.kernels.compiling.signatures import symbol_of
from rosenblatt.kernels.compiling.trial import agrees
from rosenblatt.kernels.finite import first_not_finite

PACKAGE = Path(rosenblatt.__file__).parent

LOOK = """
import json, sys, warnings
{before}
import numpy as np
from rosenblatt.kernels.finite import first_not_finite
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    places = [first_not_finite(np.array([0.0, np.inf])), first_not_finite(np.zeros(3))]
print(json.dumps([places, "numba" in sys.modules, [str(w.message) for w in caught]]))
"""
WITHOUT_NUMBA = "sys.modules['numba'] = None"
STRANGER = 65534  # a user
LOADED, COMPILED = [[1, -1], False, []], [[1, -1], True, []]

FORK = """
import os
import numpy as np
from rosenblatt.kernels.finite import first_not_finite
from rosenblatt.kernels.compiling import machine
first_not_finite(np.zeros(3))
machine._lock.acquire()  # as a thread may hold it that is not there in the child
child = os.fork()
if child == 0:
    os._exit(first_not_finite(np.full((2, 2), np.inf)) + first_not_finite(np.ones(2)) + 1)
print(os.waitpid(child, 0)[1])
"""

LOKY = """
import numpy as np
from joblib import Parallel, delayed
from rosenblatt.kernels.finite import first_not_finite
rows = [np.array([0.0] * k + [np.nan]) for k in range(4)]
print(Parallel(n_jobs=2, backend="loky")(delayed(first_not_finite)(row) for row in rows))
"""

THREADS = """
from threading import Barrier, Thread
import numpy as np
from rosenblatt.kernels.finite import first_not_finite
barrier, found = Barrier(8), []
def look(k):
    barrier.wait()
    found.append(first_not_finite(np.array([0.0] * k + [np.nan])) == k)
threads = [Thread(target=look, args=(k,)) for k in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sum(found))
"""


def run(program: str, **changes: Any) -> str:
    """Run a program in a new process and return what it prints."""
    environment = {**os.environ, **changes.pop("environment", {})}
    environment = {name: value for name, value in environment.items() if value is not None}
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        **changes,
    )
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def look(cache: Path, before: str = "", **changes: Any) -> Any:
    """Run a kernel in a new process: what it says, whether numba was imported, all warnings."""
    environment = {"ROSENBLATT_CACHE": str(cache), **changes.pop("environment", {})}
    return json.loads(run(LOOK.format(before=before), environment=environment, **changes))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache that has machine code for what is run here."""
    cache = tmp_path_factory.mktemp("machine") / "cache"
    assert look(cache) == COMPILED
    return cache


@pytest.fixture
def cache(filled: Path, tmp_path: Path) -> Path:
    """Return a cache of one's own that has machine code for what is run here."""
    return shutil.copytree(filled, tmp_path / "cache")


def test_what_was_compiled_is_loaded_without_numba(cache: Path) -> None:
    """A second process does not import numba, whether it is there or not."""
    assert look(cache) == LOADED
    assert look(cache, WITHOUT_NUMBA) == [[1, -1], True, []]  # the name is there, blocked


def test_without_machine_code_and_compiler(tmp_path: Path) -> None:
    """Where nothing is compiled and nothing can be, plain Python runs and says so once."""
    places, _, warned = look(tmp_path / "nothing", WITHOUT_NUMBA)
    assert places == [1, -1]
    (sentence,) = warned
    assert "plain Python" in sentence
    assert sentence.endswith("The compiler is missing: pip install numba.")


def test_a_compiler_that_lags_behind_numpy(tmp_path: Path) -> None:
    """Where numba refuses the NumPy that is there, one warning has both versions and the remedy."""
    package = tmp_path / "numba"
    package.mkdir()
    refusal = "Numba needs NumPy 2.3 or less. Got NumPy 2.4."
    (package / "__init__.py").write_text(f"raise ImportError({refusal!r})")
    path = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    places, _, warned = look(tmp_path / "nothing", environment=path)
    assert places == [1, -1]
    problem = (
        f"numba {version('numba')} cannot be imported with NumPy {np.__version__} "
        "(Numba needs NumPy 2.3 or less. Got NumPy 2.4). "
        "Install versions that fit: pip install --upgrade numba."
    )
    (sentence,) = warned
    assert "runs as plain Python, a hundred times slower" in sentence
    assert sentence.endswith(problem)
    state = "from rosenblatt.kernels.compiling import machine_code_state as s; print(s())"
    told = run(state, environment=path)
    assert problem in told
    assert "machine code of the cache where it has any, else plain Python" in told


def of_another_kernel(_: bytes) -> bytes:
    """Return a file that is whole, but for another kernel than its name says."""
    return packed(("int64", b"nothing that could be run"), "another", processor(), source_digest())


@pytest.mark.parametrize(
    "change",
    [lambda data: data[: len(data) // 2], lambda data: data[:-40] + bytes(40), of_another_kernel],
    ids=["cut", "overwritten", "other kernel"],
)
def test_damaged_machine_code_is_made_anew(cache: Path, change: Callable[[bytes], bytes]) -> None:
    """What is not whole or for another kernel is not run but compiled again, and kept."""
    for path in cache.rglob("*.code"):
        path.write_bytes(change(path.read_bytes()))
    assert look(cache) == COMPILED
    assert look(cache) == LOADED


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    """Where the cache can't be, code is compiled for the process alone."""
    (tmp_path / "file").write_text("in the way")
    assert look(tmp_path / "file" / "cache") == COMPILED


def test_a_read_only_package_without_a_home(cache: Path, tmp_path: Path) -> None:
    """A package in a folder that can't be written, run with HOME unset, uses its cache."""
    copy = tmp_path / "site"
    shutil.copytree(PACKAGE, copy / "rosenblatt", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (copy, *copy.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert look(cache, environment={"PYTHONPATH": str(copy), "HOME": None}) == LOADED
    finally:
        for path in (copy, *copy.rglob("*")):
            path.chmod(0o700)


@pytest.fixture
def site() -> Iterator[Path]:
    """Yield a folder with a package that brings its machine code along, as a wheel does."""
    compiler = shutil.which("cc")
    if compiler is None or this_platform() not in PLATFORMS:
        pytest.skip("no C compiler, or no wheel for this platform")
    with TemporaryDirectory() as name:  # which others may read, unlike those of pytest
        Path(name).chmod(0o755)
        copy = Path(name, "site")
        hidden = shutil.ignore_patterns("__pycache__", "_machine.*")
        shutil.copytree(PACKAGE, copy / "rosenblatt", ignore=hidden)
        link_kernels(compiler, Path(name, "objects"), copy / "rosenblatt")
        yield copy


def link_kernels(compiler: str, objects: Path, package: Path) -> None:
    """Put an extension module into a package with the kernel of LOOK and that of the trial."""
    platform, results = PLATFORMS[this_platform()], {}
    objects.mkdir()
    with recording() as calls:
        first_not_finite(np.zeros(3))
        agrees()
    for name, (kernel, kinds) in calls.items():
        symbol = symbol_of(name)
        results[symbol], made = compile_kernel(kernel, kinds, symbol, *platform.targets)
        for target, data in made.items():
            (objects / f"{symbol_for(symbol, target)}.o").write_bytes(data)
    link_module(platform, objects, results, package, (compiler,))


def in_site(site: Path, before: str = "", **changes: Any) -> Any:
    """Run a kernel of that package with HOME unset and no cache that could be used."""
    environment = {"PYTHONPATH": str(site), "HOME": None, "XDG_CACHE_HOME": "/proc/none"}
    return look(Path("/proc/none"), before, environment=environment, cwd="/", **changes)


def test_machine_code_of_a_read_only_package(site: Path) -> None:
    """A package that can't be written, with HOME unset, runs without compiler; so does a guest."""
    for path in (site, *site.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert in_site(site, WITHOUT_NUMBA) == [[1, -1], True, []]
        if hasattr(os, "geteuid") and os.geteuid() == 0 and _readable_by_others(site):
            assert in_site(site, WITHOUT_NUMBA, user=STRANGER) == [[1, -1], True, []]
    finally:
        for path in (site, *site.rglob("*")):
            path.chmod(0o700)


def test_linked_kernels_of_other_sources_are_not_used(site: Path) -> None:
    """Where the C file shows a checkout, kernels from other Python files are done without."""
    shutil.copy(PACKAGE / "_machine.c", site / "rosenblatt")
    path = site / "rosenblatt" / "kernels" / "finite.py"
    path.write_text(path.read_text() + "# edited\n")
    places, _, warned = in_site(site, WITHOUT_NUMBA)
    assert places == [1, -1]
    assert len(warned) == 1


def _readable_by_others(site: Path) -> bool:
    try:
        run("import numpy, llvmlite", user=STRANGER, cwd="/")
        run(f"open({str(site / 'rosenblatt' / '__init__.py')!r})", user=STRANGER, cwd="/")
    except (AssertionError, PermissionError):
        return False
    return True


def test_another_user(cache: Path) -> None:
    """Whoever can't read the cache of somebody else compiles, and leaves it as it is."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only the administrator can run a program as somebody else")
    try:
        run("import rosenblatt, numba", user=STRANGER, cwd="/")
    except (AssertionError, PermissionError):
        pytest.skip("Python is installed where others can't read it")
    before = {path: path.read_bytes() for path in cache.rglob("*.code")}
    assert look(cache, user=STRANGER, cwd="/") == COMPILED
    assert {path: path.read_bytes() for path in cache.rglob("*.code")} == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_after_a_fork(cache: Path) -> None:
    """A forked process runs what its parent loaded, and loads more while a lock was held."""
    assert run(FORK, environment={"ROSENBLATT_CACHE": str(cache)}) == "0\n"


def test_workers_of_loky(cache: Path) -> None:
    """Workers of joblib run kernels that were sent to them by name."""
    assert run(LOKY, environment={"ROSENBLATT_CACHE": str(cache)}) == "[0, 1, 2, 3]\n"


def test_threads_that_load_at_once(cache: Path) -> None:
    """Threads whose first calls come at the same time all get machine code."""
    assert run(THREADS, environment={"ROSENBLATT_CACHE": str(cache)}) == "8\n"


def test_the_lower_level_gives_the_same(cache: Path) -> None:
    """Code for an older processor is kept beside that for this one."""
    if processor() not in {"x86-64-v3", "x86-64-v2"}:
        pytest.skip("this processor has no levels")
    older = {"ROSENBLATT_PROCESSOR": "x86-64"}
    assert look(cache, environment=older) == COMPILED
    assert look(cache, environment=older) == LOADED
    assert look(cache) == LOADED


def test_a_pass_is_compiled_once_for_a_kind_of_rows(tmp_path: Path) -> None:
    """Averages, row weights, logs, single rows and files make no other signature."""
    matrix = sparse.random(30, 5, density=0.5, format="csr", random_state=0)
    y, weight = np.arange(30) % 2, np.linspace(0.0, 2.0, 30)
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{i % 2} 1:{i % 7} 2:{i % 5}\n" for i in range(300)))
    with recording() as calls:
        for kind in (Perceptron, AveragedPerceptron, VotedPerceptron):
            clf = kind(max_iter=2).fit(matrix, y).partial_fit(matrix, y, sample_weight=weight)
            clf.partial_fit(matrix[:1], y[:1])
        for memory, size in product(("last", "average"), ("1M", "1K")):
            learned = ["--rule", "perceptron", "--memory", memory, "--buffer", size]
            output = ["--max-iter", "2", "-o", str(tmp_path / "m.model")]
            assert CliRunner().invoke(main, ["train", str(path), *learned, *output]).exit_code == 0
    passes = [name for name in calls if "binary_pass" in name]
    assert len(passes) == 1, passes
