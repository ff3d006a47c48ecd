"""Weights, and their contributions to one decision, as bars (CIML, section 4.4)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.errors import InputError, Parameter
from rosenblatt.estimators.base import OnlineClassifier
from rosenblatt.models.explanation import (
    Explanation,
    class_number,
    deciding_terms,
    ranked_weights,
    ranking_misleads,
    term_text,
)
from rosenblatt.models.model import Model, model_of
from rosenblatt.plots.display import Axes, Display, label_text, style_axes, titled
from rosenblatt.plots.palette import INK, class_style
from rosenblatt.plots.subject import check_fitted

BIAS = "(bias)"
NAME = 60  # characters
HATCH = "///"  # of negative bars, so that colour is not needed


@dataclass
class BarsDisplay(Display):
    """A bar for each of some names."""

    names: list[str]
    values: NDArray[Any]

    @property
    def size(self) -> tuple[float, float]:
        """As high as the bars need."""
        return (7.6, 1.4 + 0.26 * max(len(self.names), 2))

    def _draw_bars(self, ax: Axes, above: str, below: str) -> None:
        """Draw the bars, the first on top; say what positive and negative ones speak for."""
        from matplotlib.patches import Patch

        values, negative, positive = self.values, class_style(0), class_style(1)
        places, signs = np.arange(len(values)), values > 0
        fills = [positive.colour if up else negative.tint for up in signs]
        edges = [positive.edge if up else negative.colour for up in signs]
        look: Any = {"height": 0.72, "color": fills, "edgecolor": edges, "linewidth": 0.8}
        self.bars_ = ax.barh(places, values, **look)
        for bar, up in zip(self.bars_, signs, strict=True):
            bar.set_hatch("" if up else HATCH)
        style_axes(ax, "", "", grid=True)
        ax.yaxis.grid(visible=False)
        ax.set_yticks(places, [label_text(name, NAME) for name in self.names], color=INK)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.axvline(0.0, color=INK, linewidth=1.0)
        ax.set_ylim(max(len(values), 1) - 0.4, -0.6)
        if not len(values):
            ax.set_xlim(-1, 1)
            ax.text(0.52, 0.5, "all are 0", transform=ax.transAxes, va="center", color=INK)
        look = {"facecolor": negative.tint, "edgecolor": negative.colour, "hatch": HATCH}
        self._listed(Patch(facecolor=positive.colour, edgecolor=positive.edge, label=above))
        self._listed(Patch(label=below, **look))


@dataclass
class WeightsDisplay(BarsDisplay):
    """The most positive and the most negative weights with their names, largest first.

    Where the features have ranges so different that weights mislead, and the model knows them, the
    bars are weight × standard deviation. A second-order rule knows how sure each weight is: a line
    reaches one deviation of the weight to either side.

    Attributes
    ----------
    names : list of str
    values : array of shape (n_shown,)
        From the most positive to the most negative.
    uncertainties : array of shape (n_shown,) or None
        The deviation of each weight, as large beside its value; None where no rule kept it.
    positive, negative : labels
        What either side speaks for; ``negative`` is None where there are more than two classes.
    bars_, legend_ : what ``plot`` drew
    """

    bias: float
    n_nonzero: int
    positive: Any
    negative: Any
    by_effect: bool
    title: str
    uncertainties: NDArray[Any] | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        n: int = 10,
        class_: Any = None,
        feature_names: Sequence[str] | None = None,
    ) -> Self:
        """Rank and draw.

        Parameters
        ----------
        estimator : fitted estimator of rosenblatt, or a stored model
        n : int, default 10
            How many weights of either sign at most.
        class_ : label, default None
            The class whose weights are shown. It is needed where there are more than two; of two
            it is by default the second, for which positive weights speak.
        feature_names : names of the features, default None
            None for those that the model has.
        """
        model = model_from(estimator, feature_names)
        if class_ is None and not model.task.flat:
            example = Parameter("class_", model.classes[0])
            raise InputError(
                f"The model has {len(model.classes)} classes, each with its own weights; choose "
                f"one, for example with {example}."
            )
        number = None if class_ is None else class_number(model, str(class_))
        by_effect = ranking_misleads(model)
        ranking = ranked_weights(model, n, number, by_effect=by_effect)[0]
        shown = [*ranking.top, *reversed(ranking.bottom)]
        weights = np.array([w.weight for w in shown], np.float64)
        values = np.array([w.effect or 0.0 for w in shown], np.float64) if by_effect else weights
        unsure = np.array([w.uncertainty or 0.0 for w in shown], np.float64)
        return cls(
            *([weight.name for weight in shown], values, ranking.bias, ranking.n_nonzero),
            *(ranking.label, ranking.against, by_effect),
            model.weights_title,
            None if model.variance is None else unsure * values / weights,
        )

    def _sentence(self) -> str:
        if not self.names:
            return "all weights are 0."
        return (
            f"{len(self.names)} of {self.n_nonzero:,} weights; positive ones speak for "
            f"{self.positive}. The bias is {self.bias:.4g}."
        )

    def _draw(self, ax: Axes) -> None:
        against = f"against {label_text(self.positive)}"
        if self.negative is not None:
            against = f"for {label_text(self.negative)}"
        sides = (f"for {label_text(self.positive)}", against)
        self._draw_bars(ax, *sides)
        if self.uncertainties is not None and len(self.names):
            look: Any = {"fmt": "none", "ecolor": INK, "elinewidth": 1.2, "capsize": 3}
            look |= {"xerr": self.uncertainties, "label": "± one deviation of the weight"}
            self._listed(ax.errorbar(self.values, np.arange(len(self.values)), **look))
        ax.set_xlabel("weight × standard deviation" if self.by_effect else "weight")
        told = f"{self.n_nonzero:,} nonzero, bias {self.bias:.4g}"
        self._finish(titled(self.title, "largest weights of either sign"), told)


@dataclass
class ContributionsDisplay(BarsDisplay):
    """The terms weight × value of one row's score, the largest first; they sum to the score.

    With more than two classes they are the terms of the lead over the runner-up. Terms that are not
    shown are one bar together; the bias is one too.

    Attributes
    ----------
    names : list of str
    values : array of shape (n_bars,)
        They sum to ``total``.
    total : float
        The score, or the lead.
    positive, negative : labels
        What positive and negative terms speak for.
    bars_, legend_ : what ``plot`` drew
    """

    total: float
    positive: Any
    negative: Any
    n_classes: int
    title: str
    scaled: bool = (
        False  # whether a term's number is multiplied as scaled, and named as in the file
    )

    says_title = False

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        x: Any,
        *,
        n: int = 10,
        feature_names: Sequence[str] | None = None,
        title: str = "One row",
    ) -> Self:
        """Explain the row x and draw.

        Parameters
        ----------
        estimator : fitted estimator of rosenblatt, or a stored model
        x : array of shape (n_features,), or one row of a CSR matrix
        n : int, default 10
            How many terms at most.
        feature_names : names of the features, default None
            None for those that the model has.
        title : str
            What the row is called.
        """
        model = model_from(estimator, feature_names).one_class()
        explanation = deciding_terms(model, *_entries(x, model.n_features))
        if explanation is None:
            raise InputError("A vote is not a sum of terms; draw an AveragedPerceptron instead.")
        return cls.from_explanation(explanation, model, n=n, title=title)

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, model: Model, *, n: int = 10, title: str = "One row"
    ) -> Self:
        """Draw the result of ``rosenblatt.models.explanation.contributions``."""
        shown, rest = explanation.terms[:n], explanation.terms[n:]
        names = [term_text(model, term) for term in shown]
        values = [term.amount for term in shown]
        if rest:
            names.append(f"({len(rest)} other feature{'s' * (len(rest) > 1)})")
            values.append(float(np.sum([term.amount for term in rest])))
        if explanation.bias:
            names.append(BIAS)
            values.append(explanation.bias)
        sides = (explanation.positive, explanation.negative)
        told = np.array(values, float), explanation.total, *sides, len(model.classes), title
        return cls(names, *told, any(term.raw is not None for term in shown))

    @property
    def decision(self) -> Any:
        """The class that the terms decide for."""
        return self.positive if self.total > 0 else self.negative

    @property
    def _measure(self) -> str:
        return "score" if self.n_classes == 2 else f"lead over {label_text(self.negative)}"

    def _sentence(self) -> str:
        return f"{self.title}: {self.decision}, with the {self._measure} {self.total:.4g}."

    def _draw(self, ax: Axes) -> None:
        sides = (f"for {label_text(self.positive)}", f"for {label_text(self.negative)}")
        self._draw_bars(ax, *sides)
        ax.set_xlabel("weight × value (numbers as scaled)" if self.scaled else "weight × value")
        decided = f"{label_text(self.decision)}, {self._measure} {self.total:.4g}"
        self._finish(f"{label_text(self.title, 40)}: {decided}")


def _entries(x: Any, n_features: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the features of a row that are not 0, and their values."""
    if sparse.issparse(x):
        x = x.toarray()
    row = np.asarray(x, np.float64).reshape(-1)
    if len(row) != n_features:
        msg = f"The row has {len(row)} values; the model was trained on {n_features} features."
        raise InputError(msg)
    if not np.isfinite(row).all():
        feature = int(np.flatnonzero(~np.isfinite(row))[0])
        msg = f"Feature {feature} of the row is {row[feature]}; it must be a finite number."
        raise InputError(msg)
    indices = np.flatnonzero(row)
    return indices, row[indices]


def model_from(estimator: Any, feature_names: Sequence[str] | None = None) -> Model:
    """Return the model of an estimator of this package, or the model that is given itself."""
    if isinstance(estimator, OnlineClassifier):
        check_fitted(estimator)
    elif not isinstance(estimator, Model):
        got = type(estimator).__name__
        msg = f"This picture needs a fitted linear estimator of rosenblatt; got a {got}."
        raise InputError(msg)
    model = model_of(estimator)
    if feature_names is None:
        return model
    names = tuple(str(name) for name in feature_names)
    if len(names) != model.n_features:
        raise InputError(f"feature_names has {len(names)} names for {model.n_features} features.")
    return replace(model, feature_names=names)
