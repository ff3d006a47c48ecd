"""What all tests share."""

import os
import secrets
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Lets scikit-learn's check of array API input run, which SciPy otherwise keeps from it. It has to
# be set before SciPy is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# A shell starts background jobs with Ctrl-C ignored, and Ctrl-C is what some tests are about.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests draw the same examples on every machine, however slow. `make explore` draws others.
SLOW_IS_FINE: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, database=None, max_examples=50, **SLOW_IS_FINE)
settings.register_profile(
    "explore", derandomize=False, max_examples=2000, print_blob=True, **SLOW_IS_FINE
)
settings.load_profile("same")


# Fixtures that take seconds to make, and the tests that share one by running in one process.
SHARED = {"session_client": "dask", "browser": "browser", "learned": "new rule"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one process of several run all tests that share a cluster, a browser or a training."""
    for item in items:
        for fixture in getattr(item, "fixturenames", ()):
            if fixture in SHARED:
                item.add_marker(pytest.mark.xdist_group(SHARED[fixture]))


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
