"""The weights that say most, as bars to either side (CIML, section 4.4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.models.explanation import class_number, ranked_weights, ranking_misleads
from rosenblatt.plots.bars import draw_bars
from rosenblatt.plots.canvas import Display, label_text, legend_beside, set_title
from rosenblatt.plots.model import model_from

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class WeightsDisplay(Display):
    """The most positive and the most negative weights with their names, largest first.

    Where the features have ranges so different that weights mislead, and the model knows them, the
    bars are weight × standard deviation.

    Attributes
    ----------
    names : list of str
    values : array of shape (n_shown,)
        From the most positive to the most negative.
    positive, negative : labels
        What either side speaks for; ``negative`` is None where there are more than two classes.
    bars_, legend_ :
        What was drawn, after ``plot``.
    """

    names: list[str]
    values: NDArray[Any]
    bias: float
    n_nonzero: int
    positive: Any
    negative: Any
    by_effect: bool
    title: str

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
        if class_ is None and len(model.classes) > 2:
            msg = (
                f"The model has {len(model.classes)} classes with weights of their own: say which "
                f"one by class_, for example class_={model.classes[0]!r}."
            )
            raise InputError(msg)
        number = None if class_ is None else class_number(model, str(class_))
        by_effect = ranking_misleads(model)
        voted = model.learner == "VotedPerceptron"  # whose weights are those of the average
        ranking = ranked_weights(model, n, number, by_effect=by_effect)[0]
        shown = [*ranking.top, *reversed(ranking.bottom)]
        return cls(
            [weight.name for weight in shown],
            np.array([(w.effect or 0.0) if by_effect else w.weight for w in shown], np.float64),
            ranking.bias,
            ranking.n_nonzero,
            ranking.label,
            ranking.against,
            by_effect,
            "Average of a VotedPerceptron" if voted else model.learner,
        )

    @property
    def size(self) -> tuple[float, float]:
        """As high as the bars need."""
        return (7.6, 1.4 + 0.26 * max(len(self.names), 2))

    @property
    def sentence(self) -> str:
        """What the picture shows."""
        if not self.names:
            return f"All weights of {self.title} are 0."
        return (
            f"{len(self.names)} of {self.n_nonzero:,} weights of {self.title}; positive ones speak "
            f"for {self.positive}. The bias is {self.bias:.4g}."
        )

    def _draw(self, axes: "list[Axes]") -> None:
        ax = axes[0]
        against = f"against {label_text(self.positive)}"
        if self.negative is not None:
            against = f"for {label_text(self.negative)}"
        sides = (f"for {label_text(self.positive)}", against)
        self.bars_, handles = draw_bars(ax, self.names, self.values, sides)
        ax.set_xlabel("weight × standard deviation" if self.by_effect else "weight")
        self.legend_ = legend_beside(ax, handles)
        told = f"{self.n_nonzero:,} other than 0, bias {self.bias:.4g}"
        set_title(ax, f"{self.title}: the weights that say most", told)
