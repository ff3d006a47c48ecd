"""The contents of a report: figures of a model, and of test rows with the worst mistakes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.models.evaluation import Evaluation, evaluation_of
from rosenblatt.models.explanation import Ranking, ranked_weights, ranking_misleads
from rosenblatt.models.model import Model
from rosenblatt.models.provenance import is_recorded
from rosenblatt.models.reliability import Reliability
from rosenblatt.models.scoring import votes_of
from rosenblatt.report.giveaways import Giveaway, Giveaways
from rosenblatt.report.hardest import HardestRows, MisjudgedRow

WEIGHTS = 12  # names on either side
MOST_RANKED = 30  # classes whose weights are shown


@dataclass(frozen=True)
class Findings:
    """The contents of the page, before they are words and pictures."""

    name: str
    model: Model
    rankings: list[Ranking]
    by_effect: bool  # weights are ranked by weight × deviation, since ranges differ much
    evaluation: Evaluation | None = None
    hardest: list[MisjudgedRow] = field(default_factory=list)
    test_names: tuple[str, ...] = ()
    giveaways: list[Giveaway] = field(default_factory=list)

    @property
    def reliability(self) -> Reliability | None:
        """How far the probabilities of a calibrated model were right on the test rows."""
        model, evaluation = self.model, self.evaluation
        found = None if evaluation is None else evaluation.reliability
        fitted = model.calibration is not None and not model.voted
        return found if fitted and found is not None and found.n_rows else None

    @property
    def survival(self) -> NDArray[Any] | None:
        """How many rows each weight vector lasted, the zero one first, where mistakes are kept."""
        return votes_of(self.model).lifetimes if is_recorded(self.model) else None


def findings(
    model: Model,
    *,
    name: str = "model",
    test: Iterable[Batch] | None = None,
    test_names: tuple[str, ...] = (),
    told: Sequence[str] = (),
) -> Findings:
    """Return the contents of a report on a model, and on labelled rows if there are any.

    ``told`` has, once all rows are read, sentences on what was unusual about them.
    """
    by_effect = ranking_misleads(model)
    rankings = ranked_weights(model, WEIGHTS, by_effect=by_effect)[:MOST_RANKED]
    if test is None:
        return Findings(name, model, rankings, by_effect)
    hardest = HardestRows(model)
    alone = Giveaways(rankings, len(model.classes))
    evaluation = evaluation_of(model, test, hardest.add, alone.add, told=told)
    return Findings(
        name,
        model,
        rankings,
        by_effect,
        evaluation,
        hardest.rows(),
        test_names,
        alone.by_class(model.classes),
    )
