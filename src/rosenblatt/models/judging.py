"""Judges a model by the rows of batches."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rosenblatt.data.batch import Batch
from rosenblatt.data.files import Layout
from rosenblatt.data.sources import Paths
from rosenblatt.tasks.evaluation import AnyEvaluation, Judged

if TYPE_CHECKING:
    from rosenblatt.models.model import Model


def evaluation_of(
    model: "Model",
    batches: Iterable[Batch],
    *watchers: Callable[[Judged], object],
    told: Sequence[str] = (),
) -> Any:
    """Judge a model by the rows of batches; watchers see what was said of each.

    ``told`` has, once all rows are read, sentences on what was unusual about them.
    """
    evaluation = model.task.evaluation(model.classes)
    truths = model.task.truths(model.classes)
    for batch in batches:
        judged = truths.judged(batch, model.scores(batch), model.answers)
        evaluation.count(judged)
        if model.has_probabilities:
            evaluation.count_probabilities(model.probabilities_of(judged.scores), judged)
        for watcher in watchers:
            watcher(judged)
    evaluation.close(told, model.options)
    return evaluation


def evaluation_of_files(
    model: "Model", paths: Paths, *, layout: Layout | None = None
) -> AnyEvaluation:
    """Return how good the model is on the rows of files, which have labels."""
    told: list[str] = []
    model = model.merged
    rows = model.rows(paths, layout=layout, tell=told.append)
    found: AnyEvaluation = evaluation_of(model, rows, told=told)
    return found
