"""What a report tells: gathered from a model, and from rows to judge it by."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.models.evaluation import Evaluation, evaluation_of
from rosenblatt.models.explanation import Ranking, ranked_weights, ranking_misleads
from rosenblatt.models.model import Model
from rosenblatt.models.recorded import is_recorded
from rosenblatt.models.scoring import votes_of
from rosenblatt.report.hardest import HardestRows, HardRow

WEIGHTS = 12  # names on either side
MOST_RANKED = 30  # classes whose weights are shown


@dataclass(frozen=True)
class Findings:
    """Everything on the page, before it is words and pictures."""

    name: str
    model: Model
    rankings: list[Ranking]
    by_effect: bool  # weights are ranked by weight × deviation, since ranges differ much
    evaluation: Evaluation | None = None
    hardest: list[HardRow] = field(default_factory=list)
    test_names: tuple[str, ...] = ()

    @property
    def survival(self) -> NDArray[Any] | None:
        """How many rows each weight vector lasted, the zero one first, where mistakes are kept."""
        model = self.model
        if not is_recorded(model):
            return None
        return votes_of(model).survival(model.count)


def findings(
    model: Model,
    *,
    name: str = "model",
    test: Iterable[Batch] | None = None,
    test_names: tuple[str, ...] = (),
) -> Findings:
    """Look at a model, and at rows with labels if there are any."""
    by_effect = ranking_misleads(model)
    rankings = ranked_weights(model, WEIGHTS, by_effect=by_effect)[:MOST_RANKED]
    if test is None:
        return Findings(name, model, rankings, by_effect)
    hardest = HardestRows(model)
    evaluation = evaluation_of(model, test, hardest.add)
    return Findings(name, model, rankings, by_effect, evaluation, hardest.rows(), test_names)
