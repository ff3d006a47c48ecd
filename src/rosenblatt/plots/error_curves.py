"""Errors after each pass, for one order of the rows or several (CIML, Figures 4.3 and 4.4)."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.estimators import Perceptron
from rosenblatt.models.learner import generator_from
from rosenblatt.parameters import check_setting
from rosenblatt.plots.display import Axes, Display, legend_beside, style_axes, titled
from rosenblatt.plots.palette import BLUE, GREEN, INK, VERMILION
from rosenblatt.plots.subject import rows_of_data, rows_of_estimator
from rosenblatt.training.examples import Order, row_numbers
from rosenblatt.training.history import PassRecord
from rosenblatt.training.loop import Shuffle

MOST_MARKED = 40  # passes; the curves of more are lines without marks
ORDERS: dict[str, Shuffle] = {"not permuted": False, "permuted every pass": True}
STYLES = ((VERMILION, "^"), (BLUE, "o"), (GREEN, "s"))


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
    training_, test_, best_, legend_ : what ``plot`` drew
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
        split = split_rows(X, y, X_test, y_test, seed=random_state)
        training, judged = errors_by_pass(learner, split, max_iter)
        name = "test error" if X_test is not None else "error on a held-out quarter"
        passes, best = np.arange(1, len(training) + 1), int(np.argmin(judged)) + 1
        title = type(learner).__name__
        return cls(passes, training, judged, best, "training error", name, title)

    @classmethod
    def from_estimator(cls, estimator: Any, *, n_rows: int | None = None) -> Self:
        """Draw the history of a fitted estimator.

        The first curve is then the share of rows that were wrong when visited, which needs
        ``n_rows``, the number of rows that it was fitted on, unless a file that it was loaded from
        says it; the second is the error on the rows that early stopping held out.
        """
        history = getattr(estimator, "history_", None)
        if not history:
            raise InputError(f"The {type(estimator).__name__} has no history; call fit first.")
        model = getattr(estimator, "model_", None)  # of files: it knows how many rows they had
        n_rows = n_rows or (None if model is None else model.outcome.get("n_learned"))
        found = cls.from_history(history, n_rows, title=type(estimator).__name__)
        if found is None:
            raise InputError(
                "The history holds numbers of mistakes alone: say n_rows, the number of rows that "
                "the estimator was fitted on."
            )
        return found

    @classmethod
    def from_history(
        cls, history: Sequence[PassRecord], n_rows: int | None, *, title: str = ""
    ) -> Self | None:
        """Draw the records of passes over ``n_rows`` rows; None if no error is known."""
        scores = np.array([record.validation_score for record in history], np.float64)  # None: NaN
        judged = None if np.isnan(scores).all() else 1.0 - scores
        mistakes = np.array([record.mistakes for record in history], np.float64)
        if not n_rows and judged is None:
            return None
        return cls(
            np.array([record.pass_ for record in history]),
            mistakes / n_rows if n_rows else None,
            judged,
            None if judged is None else int(np.nanargmin(judged)) + 1,
            "wrong when first visited",
            "error on held-out rows",
            title,
        )

    def _sentence(self) -> str:
        if self.test_error is None or self.best_pass is None:
            assert self.training_error is not None  # noqa: S101  # one of them is there
            last = self.training_error[-1]
            return f"the error while learning ends at {last:.2%}."
        return (
            f"the {self.test_name} is lowest after pass {self.best_pass} of {len(self.passes)}, "
            f"{self.test_error[self.best_pass - 1]:.2%}; after the last it is "
            f"{self.test_error[-1]:.2%}."
        )

    def _draw(self, ax: Axes) -> None:
        style_axes(ax, "pass", "rows that are wrong", grid=True, percent="y", whole="x")
        few = len(self.passes) <= MOST_MARKED
        self.training_ = self.test_ = self.best_ = None
        curves = [curve for curve in (self.training_error, self.test_error) if curve is not None]
        if self.training_error is not None:
            look: Any = {"color": BLUE, "marker": "o" if few else "", "markersize": 4}
            y, name = self.training_error, self.training_name
            self.training_ = self._curve(self.passes, y, name, linestyle="--", **look)
        if self.test_error is not None and self.best_pass is not None:
            look = {"color": VERMILION, "marker": "^" if few else "", "markersize": 5}
            self.test_ = self._curve(self.passes, self.test_error, self.test_name, **look)
            least = self.test_error[self.best_pass - 1]
            look = {"color": INK, "markerfacecolor": "none", "markersize": 13, "zorder": 5}
            look |= {"markeredgewidth": 1.8, "marker": "o", "linestyle": "none"}
            told = f"best: pass {self.best_pass}, {least:.1%}"
            self.best_ = self._curve(self.best_pass, least, told, **look)
        top = max(0.01, *(float(np.nanmax(curve)) for curve in curves))
        ax.set_ylim(-0.03 * top, 1.06 * top)  # a mark on zero is not cut in half
        ax.set_xlim(0.5, len(self.passes) + 0.5)
        self._finish(titled(self.title, "error after each pass"))


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

    size = (9.6, 3.8)
    shape = (1, 2)

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
        X, y : rows to learn from
        X_test, y_test : rows to judge by, default None
        estimator : classifier, default None
            It must have the parameters ``shuffle`` and ``random_state``, which are set here.
        max_iter : int, default 30
        n_seeds : int, default 10
            The number of seeds.
        random_state : int, default 0
            The first seed; the others follow, + 1 each.
        """
        from sklearn.base import clone

        learner = learner_or_default(estimator)
        errors: dict[str, list[tuple[NDArray[Any], NDArray[Any]]]] = {name: [] for name in ORDERS}
        for seed in range(random_state, random_state + n_seeds):
            split = split_rows(X, y, X_test, y_test, seed=seed)
            for name, shuffle in ORDERS.items():
                one = clone(learner).set_params(shuffle=shuffle, random_state=seed)
                errors[name].append(errors_by_pass(one, split, max_iter))
        return cls(
            np.arange(1, max_iter + 1),
            {name: np.stack([pair[0] for pair in pairs]) for name, pairs in errors.items()},
            {name: np.stack([pair[1] for pair in pairs]) for name, pairs in errors.items()},
            "test rows" if X_test is not None else "held-out quarter",
            type(learner).__name__,
        )

    @property
    def n_seeds(self) -> int:
        """How many trainings are averaged."""
        return len(next(iter(self.test_errors.values())))

    def _sentence(self) -> str:
        last = ", ".join(
            f"{name} {errors[:, -1].mean():.2%}" for name, errors in self.test_errors.items()
        )
        return (
            f"error on the {self.test_name} after {len(self.passes)} passes, mean of "
            f"{self.n_seeds} seeds: {last}."
        )

    def _draw(self, _: Axes) -> None:
        self.lines_: dict[str, list[Any]] = {name: [] for name in self.test_errors}
        self.bands_: dict[str, list[Any]] = {name: [] for name in self.test_errors}
        kinds = {"training rows": self.training_errors, self.test_name: self.test_errors}
        for ax, (kind, by_order) in zip(self.axes_, kinds.items(), strict=True):
            style_axes(ax, "pass", f"error on the {kind}", grid=True, percent="y", whole="x")
            for (name, errors), (colour, marker) in zip(by_order.items(), STYLES, strict=False):
                mean, deviation = errors.mean(axis=0), errors.std(axis=0)
                look: Any = {"color": colour, "marker": marker, "markersize": 4.5, "label": name}
                self.lines_[name] += ax.plot(self.passes, mean, **look)
                low, high = np.maximum(mean - deviation, 0.0), mean + deviation
                band: Any = {"color": colour, "alpha": 0.13, "linewidth": 0}
                self.bands_[name].append(ax.fill_between(self.passes, low, high, **band))
            ax.set_ylim(bottom=0.0)
        told = f"mean and standard deviation over {self.n_seeds} seeds"
        self._finish(titled(self.title, "with and without shuffling"), told)
        self.legend_ = legend_beside(self.axes_[1], [pair[1] for pair in self.lines_.values()])


class SplitRows(NamedTuple):
    """Rows to learn from and rows to judge by."""

    X: Any
    y: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]


def split_rows(X: Any, y: Any, X_test: Any = None, y_test: Any = None, *, seed: int) -> SplitRows:
    """Return rows to learn from and those to judge by: the ones given, or a quarter put aside."""
    if (X_test is None) != (y_test is None):
        raise InputError("X_test and y_test must be given together.")
    rows = rows_of_data(X, y)
    if X_test is not None:
        known = SimpleNamespace(classes_=rows.classes, n_features_in_=rows.n_features)
        test = rows_of_estimator(known, X_test, y_test)
        return SplitRows(rows.X, rows.labels, test.X, test.labels)
    own, aside = rows.divided(seed)
    if not len(aside) or len(np.unique(rows.numbers[own])) < 2:
        raise InputError(
            f"{rows.n_rows} rows are too few to hold out a quarter of them; pass more rows, or "
            "X_test and y_test."
        )
    return SplitRows(rows.X[own], rows.labels[own], rows.X[aside], rows.labels[aside])


def errors_by_pass(
    estimator: Any, split: SplitRows, max_iter: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the shares of training and test rows that are wrong after each pass of a new fit.

    The weights after pass k are those of fit with ``max_iter=k``: each pass is one ``partial_fit``
    on the rows in the order that fit would take them in. What cannot learn so is fitted k times.
    """
    from sklearn.base import clone

    check_setting("max_iter", max_iter)
    errors = np.empty((2, max_iter))
    learner = clone(estimator)
    shuffle, seed = getattr(learner, "shuffle", True), getattr(learner, "random_state", 0)
    online = hasattr(learner, "partial_fit")
    order = Order(row_numbers(len(split.y)), shuffle, generator_from(seed), split.X.size)
    for k in range(max_iter):
        if online:
            numbers = order.next()
            learner.partial_fit(split.X[numbers], split.y[numbers], classes=np.unique(split.y))
        else:
            learner = clone(estimator).set_params(max_iter=k + 1)
            with warnings.catch_warnings():  # that it has not converged is what is being watched
                warnings.simplefilter("ignore")
                learner.fit(split.X, split.y)
        errors[:, k] = [
            np.mean(learner.predict(X) != y)
            for X, y in ((split.X, split.y), (split.X_test, split.y_test))
        ]
    return errors[0], errors[1]


def learner_or_default(estimator: Any) -> Any:
    """Return the estimator whose curve is drawn, which is a perceptron unless one is given."""
    if estimator is None:
        return Perceptron()
    if getattr(estimator, "early_stopping", False):
        raise InputError("The curve needs all passes; set early_stopping=False.")
    return estimator
