"""What all tests share."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# Lets scikit-learn's check of array API input run, which SciPy otherwise keeps from it. It has to
# be set before SciPy is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# A shell starts background jobs with Ctrl-C ignored, and Ctrl-C is what some tests are about.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The first call of a kernel compiles it, which no deadline should count. CI draws the same examples
# every time; elsewhere each run draws new ones.
settings.register_profile("rosenblatt", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("rosenblatt")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder with the real data sets, or skip."""
    folder = os.environ.get("ROSENBLATT_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("ROSENBLATT_DATA does not name a folder with the data sets")
    return Path(folder)
