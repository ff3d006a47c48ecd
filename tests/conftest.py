"""What all tests share."""

import inspect
import os
import secrets
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

from tests.listed_kernels import listed_kernels

# Lets scikit-learn's check of array API input run, which SciPy otherwise keeps from it. It has to
# be set before SciPy is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# A shell starts background jobs with Ctrl-C ignored, and Ctrl-C is what some tests are about.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

TESTS = Path(__file__).parent

# Tests draw the same examples on every machine, however slow. `make explore` draws others.
SLOW_IS_FINE: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, database=None, max_examples=50, **SLOW_IS_FINE)
settings.register_profile(
    "explore", derandomize=False, max_examples=2000, print_blob=True, **SLOW_IS_FINE
)
settings.load_profile("same")


# Files, and folders by their conftest.py, with a fixture that is made once for several tests.
SHARING = [
    (file.parent if file.name == "conftest.py" else file).relative_to(TESTS.parent).as_posix()
    for file in sorted(TESTS.rglob("*.py"))
    if file.parent != TESTS and "\n@pytest.fixture(scope=" in file.read_text()
]


class TogetherScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Let one process of several run all tests that share a cluster, a browser or a training.

    The groups of pytest-xdist itself are lost on pytest 9.2, which does not read the names that
    they are written into.
    """

    def _split_scope(self, nodeid: str) -> str:
        """Return the file or folder that a test shares fixtures with, or the test alone."""
        return next((place for place in SHARING if nodeid.startswith(place)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> TogetherScheduling:
    """Hand out tests to the processes of ``pytest -n``."""
    return TogetherScheduling(config, log)


# What tests use that other systems lack, as it stands in their sources.
LACKING = {
    "win32": ("SIGKILL", "os.fork", "killpg", "mkfifo", "shell=True", "setrlimit", "symlink_to"),
    "darwin": ("RLIMIT_AS",),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests of what the system does not have."""
    words = (*LACKING.get(sys.platform, ()), *(() if sys.platform == "linux" else ("/proc/",)))
    for item in items:
        source = inspect.getsource(item.function) if isinstance(item, pytest.Function) else ""
        if found := [word for word in words if word in source]:
            item.add_marker(pytest.mark.skip(reason=f"{sys.platform} has no {found[0]}"))


@pytest.fixture(autouse=True, scope="session")
def _commands_reach_kernels_of_the_wheel() -> Iterator[None]:
    """Fail where a command calls a kernel that is not in the list that .ci/run makes."""
    with listed_kernels():
        yield


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder with the real data sets, or skip."""
    folder = os.environ.get("ROSENBLATT_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("ROSENBLATT_DATA does not name a folder with the data sets")
    return Path(folder)


@pytest.fixture
def random_seed() -> int:
    """Draw a seed for a test that explores; it is printed, so that a failure can be repeated."""
    seed = secrets.randbelow(2**32)
    print(f"random_seed = {seed}")  # noqa: T201
    return seed
