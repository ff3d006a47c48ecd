"""What all tests of pictures need."""

from collections.abc import Iterator

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _no_figure_stays() -> Iterator[None]:
    """Close what a test opened by plot() without axes."""
    yield
    import matplotlib.pyplot as plt

    plt.close("all")
