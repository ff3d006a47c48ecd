"""What decided one row: the terms of its score as bars."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.errors import InputError
from rosenblatt.models.explanation import Explanation, contributions
from rosenblatt.plots.bars import draw_bars
from rosenblatt.plots.canvas import Display, label_text, legend_beside, set_title
from rosenblatt.plots.model import model_from

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BIAS = "(bias)"


@dataclass
class ContributionsDisplay(Display):
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
    bars_, legend_ :
        What was drawn, after ``plot``.
    """

    names: list[str]
    values: NDArray[Any]
    total: float
    positive: Any
    negative: Any
    n_classes: int
    title: str

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
        model = model_from(estimator, feature_names)
        if model.learner == "VotedPerceptron":
            msg = (
                "A vote is no sum of terms: draw an AveragedPerceptron, which comes nearest to it."
            )
            raise InputError(msg)
        indices, values = _entries(x, model.n_features)
        explanation = contributions(model, indices, values)
        return cls.from_explanation(explanation, len(model.classes), n=n, title=title)

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        n_classes: int,
        *,
        n: int = 10,
        title: str = "One row",
    ) -> Self:
        """Draw what ``rosenblatt.models.explanation.contributions`` found."""
        shown, rest = explanation.terms[:n], explanation.terms[n:]
        names = [f"{term.name} = {term.value:.4g}" for term in shown]
        values = [term.amount for term in shown]
        if rest:
            names.append(f"({len(rest)} other feature{'s' * (len(rest) > 1)})")
            values.append(float(np.sum([term.amount for term in rest])))
        if explanation.bias:
            names.append(BIAS)
            values.append(explanation.bias)
        return cls(
            names,
            np.array(values, np.float64),
            explanation.total,
            explanation.positive,
            explanation.negative,
            n_classes,
            title,
        )

    @property
    def size(self) -> tuple[float, float]:
        """As high as the bars need."""
        return (7.6, 1.4 + 0.26 * max(len(self.names), 2))

    @property
    def decision(self) -> Any:
        """The class that the terms decide for."""
        return self.positive if self.total > 0 else self.negative

    @property
    def _measure(self) -> str:
        if self.n_classes == 2:
            return "score"
        return f"lead over {label_text(self.negative)}"

    @property
    def sentence(self) -> str:
        """What the picture shows."""
        return f"{self.title}: {self.decision}, with the {self._measure} {self.total:.4g}."

    def _draw(self, axes: "list[Axes]") -> None:
        ax = axes[0]
        sides = (f"for {label_text(self.positive)}", f"for {label_text(self.negative)}")
        self.bars_, handles = draw_bars(ax, self.names, self.values, sides)
        ax.set_xlabel("weight × value")
        self.legend_ = legend_beside(ax, handles)
        decided = f"{label_text(self.decision)}, {self._measure} {self.total:.4g}"
        set_title(ax, f"{label_text(self.title, 40)}: {decided}")


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
        msg = f"Feature {feature} of the row is {row[feature]}: fill it in."
        raise InputError(msg)
    indices = np.flatnonzero(row)
    return indices, row[indices]
