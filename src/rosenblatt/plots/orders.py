"""Permuting the rows against not, over seeds (CIML, Figure 4.4)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.plots.canvas import Display, legend_beside, set_title, style_axes
from rosenblatt.plots.palette import BLUE, GREEN, VERMILION
from rosenblatt.plots.passes import (
    Split,
    check_passes,
    checked,
    errors_by_pass,
    learner_or_default,
)
from rosenblatt.training.loop import Shuffle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ORDERS: dict[str, Shuffle] = {"not permuted": False, "permuted every pass": True}
STYLES = ((VERMILION, "^"), (BLUE, "o"), (GREEN, "s"))


@dataclass
class OrdersDisplay(Display):
    """The error after each pass, for rows as given and rows permuted, averaged over seeds.

    Lines are means over seeds, bands one standard deviation to either side. The seed decides the
    permutations and, where no test rows are given, which quarter is put aside; with test rows
    training without permuting is the same for every seed and has no band.

    Attributes
    ----------
    passes : array of shape (n_passes,)
    training_errors, test_errors : dict of order → array of shape (n_seeds, n_passes)
    lines_, bands_, legend_ :
        What was drawn, after ``plot``: lines and bands by order, the training error first.
    """

    passes: NDArray[Any]
    training_errors: dict[str, NDArray[Any]]
    test_errors: dict[str, NDArray[Any]]
    test_name: str
    title: str

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        X_test: Any = None,
        y_test: Any = None,
        *,
        estimator: Any = None,
        max_iter: int = 20,
        n_seeds: int = 10,
        random_state: int = 0,
    ) -> Self:
        """Train with every order and seed.

        Parameters
        ----------
        X, y, X_test, y_test, estimator, max_iter
            As of ``ErrorsDisplay``; the estimator must have the parameters ``shuffle`` and
            ``random_state``, which are set here.
        n_seeds : int, default 10
            The seeds are ``random_state``, ``random_state`` + 1, ….
        """
        from sklearn.base import clone

        learner = learner_or_default(estimator)
        rows, test = checked(X, y, X_test, y_test)
        max_iter = check_passes(max_iter)
        errors: dict[str, list[tuple[NDArray[Any], NDArray[Any]]]] = {name: [] for name in ORDERS}
        for seed in range(random_state, random_state + n_seeds):
            split = Split(rows, test, seed)
            for name, shuffle in ORDERS.items():
                one = clone(learner).set_params(shuffle=shuffle, random_state=seed)
                errors[name].append(errors_by_pass(one, split, max_iter))
        return cls(
            np.arange(1, max_iter + 1),
            {name: np.stack([pair[0] for pair in pairs]) for name, pairs in errors.items()},
            {name: np.stack([pair[1] for pair in pairs]) for name, pairs in errors.items()},
            "test" if test is not None else "held-out quarter",
            type(learner).__name__,
        )

    @property
    def n_seeds(self) -> int:
        """How many trainings are averaged."""
        return len(next(iter(self.test_errors.values())))

    @property
    def sentence(self) -> str:
        """What the picture shows."""
        last = ", ".join(
            f"{name} {errors[:, -1].mean():.2%}" for name, errors in self.test_errors.items()
        )
        return (
            f"{self.title} over {self.n_seeds} seeds, error on the {self.test_name} after "
            f"{len(self.passes)} passes: {last}."
        )

    def _draw(self, axes: "list[Axes]") -> None:
        from matplotlib.ticker import MaxNLocator, PercentFormatter

        ax = axes[0]
        style_axes(ax, "pass", "rows that are wrong", grid=True)
        self.lines_: dict[str, list[Any]] = {}
        self.bands_: dict[str, list[Any]] = {}
        for (name, test), (colour, marker) in zip(self.test_errors.items(), STYLES, strict=False):
            self.lines_[name], self.bands_[name] = [], []
            for kind, errors in (("training", self.training_errors[name]), (self.test_name, test)):
                mean, deviation = errors.mean(axis=0), errors.std(axis=0)
                dashed = kind == "training"
                line = ax.plot(
                    self.passes,
                    mean,
                    color=colour,
                    marker=marker,
                    markersize=4.5,
                    markerfacecolor="white" if dashed else colour,
                    linestyle="--" if dashed else "-",
                    label=f"{name}, {kind}",
                )[0]
                low, high = np.maximum(mean - deviation, 0.0), mean + deviation
                band = ax.fill_between(
                    self.passes, low, high, color=colour, alpha=0.13, linewidth=0
                )
                self.lines_[name].append(line)
                self.bands_[name].append(band)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        self.legend_ = legend_beside(ax, [line for pair in self.lines_.values() for line in pair])
        set_title(
            ax,
            f"{self.title}: permuting the rows or not",
            f"mean and standard deviation over {self.n_seeds} seeds",
        )
