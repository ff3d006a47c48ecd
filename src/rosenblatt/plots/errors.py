"""Training and test error against passes, with the sweet spot (CIML, Figure 4.3)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.plots.canvas import Display, legend_beside, set_title, style_axes
from rosenblatt.plots.palette import BLUE, INK, VERMILION
from rosenblatt.plots.passes import (
    Split,
    check_passes,
    checked,
    errors_by_pass,
    learner_or_default,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_MARKED = 40  # passes; the curves of more are lines without marks


@dataclass
class ErrorsDisplay(Display):
    """Two curves over the passes of a training, and the pass where the second is lowest.

    Attributes
    ----------
    passes : array of shape (n_passes,)
        1, 2, …
    training_error, test_error : arrays of shape (n_passes,), or None
        Shares of rows that are wrong.
    best_pass : int
        The first pass with the least test error: the sweet spot.
    training_name, test_name : str
        What the curves are, in the legend.
    training_, test_, best_, legend_ :
        What was drawn, after ``plot``.
    """

    passes: NDArray[Any]
    training_error: NDArray[Any] | None
    test_error: NDArray[Any] | None
    best_pass: int | None
    training_name: str
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
        max_iter: int = 30,
        random_state: int = 0,
    ) -> Self:
        """Train and judge after every pass.

        Parameters
        ----------
        X, y : rows to learn from
        X_test, y_test : rows to judge by, default None
            None to put a quarter of the rows aside.
        estimator : classifier, default None
            It is not changed; None for ``Perceptron()``.
        max_iter : int, default 30
            Passes.
        random_state : int, default 0
            Of the rows that are put aside.
        """
        learner = learner_or_default(estimator)
        rows, test = checked(X, y, X_test, y_test)
        split = Split(rows, test, random_state)
        training, judged = errors_by_pass(learner, split, check_passes(max_iter))
        name = "test error" if test is not None else "error on a held-out quarter"
        return cls(
            np.arange(1, len(training) + 1),
            training,
            judged,
            int(np.argmin(judged)) + 1,
            "training error",
            name,
            type(learner).__name__,
        )

    @classmethod
    def from_estimator(cls, estimator: Any, *, n_rows: int | None = None) -> Self:
        """Draw the history of a fitted estimator.

        The first curve is then the share of rows that were wrong when they came, which needs
        ``n_rows``, the number of rows that it was fitted on, unless a file that it was loaded from
        says it; the second is the error on the rows that early stopping held out.
        """
        history = getattr(estimator, "history_", None)
        if not history:
            msg = f"The {type(estimator).__name__} has no history to draw: fit it first."
            raise InputError(msg)
        scores = [record.validation_score for record in history]
        judged = None if None in scores else 1.0 - np.array(scores, np.float64)
        n_rows = n_rows or _rows_of(estimator)
        mistakes = np.array([record.mistakes for record in history], np.float64)
        training = None if n_rows is None else mistakes / n_rows
        if training is None and judged is None:
            msg = (
                "The history holds numbers of mistakes alone: say n_rows, the number of rows that "
                "the estimator was fitted on."
            )
            raise InputError(msg)
        return cls(
            np.array([record.pass_ for record in history]),
            training,
            judged,
            None if judged is None else int(np.argmin(judged)) + 1,
            "wrong when they came",
            "error on held-out rows",
            type(estimator).__name__,
        )

    @property
    def sentence(self) -> str:
        """What the picture shows."""
        n = len(self.passes)
        if self.test_error is None or self.best_pass is None:
            assert self.training_error is not None  # noqa: S101  # one of them is there
            return f"{self.title}: the error while learning ends at {self.training_error[-1]:.2%}."
        return (
            f"{self.title}: the {self.test_name} is least after pass {self.best_pass} of {n}, "
            f"{self.test_error[self.best_pass - 1]:.2%}; after the last it is "
            f"{self.test_error[-1]:.2%}."
        )

    def _draw(self, axes: "list[Axes]") -> None:
        from matplotlib.ticker import MaxNLocator, PercentFormatter

        ax = axes[0]
        style_axes(ax, "pass", "rows that are wrong", grid=True)
        marked = len(self.passes) <= MOST_MARKED
        self.training_ = self.test_ = self.best_ = None
        handles = []
        if self.training_error is not None:
            self.training_ = ax.plot(
                self.passes,
                self.training_error,
                color=BLUE,
                linestyle="--",
                marker="o" if marked else "",
                markersize=4,
                label=self.training_name,
            )[0]
            handles.append(self.training_)
        if self.test_error is not None and self.best_pass is not None:
            self.test_ = ax.plot(
                self.passes,
                self.test_error,
                color=VERMILION,
                marker="^" if marked else "",
                markersize=5,
                label=self.test_name,
            )[0]
            least = self.test_error[self.best_pass - 1]
            self.best_ = ax.plot(
                [self.best_pass],
                [least],
                linestyle="none",
                marker="o",
                markersize=13,
                markerfacecolor="none",
                markeredgecolor=INK,
                markeredgewidth=1.8,
                label=f"sweet spot: pass {self.best_pass}, {least:.1%}",
                zorder=5,
            )[0]
            handles += [self.test_, self.best_]
        curves = [curve for curve in (self.training_error, self.test_error) if curve is not None]
        top = max(0.01, *(float(curve.max()) for curve in curves))
        ax.set_ylim(-0.03 * top, 1.06 * top)  # a mark on zero is not cut in half
        ax.set_xlim(0.5, len(self.passes) + 0.5)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        self.legend_ = legend_beside(ax, handles)
        set_title(ax, f"{self.title}: error after each pass")


def _rows_of(estimator: Any) -> int | None:
    """Return the number of training rows, where the model was trained on files and knows it."""
    model = getattr(estimator, "model_", None)
    found = None if model is None else model.outcome.get("n_learned")
    return int(found) if found else None
