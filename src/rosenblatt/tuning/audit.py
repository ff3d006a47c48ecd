"""Labels that are probably wrong: rows that models of the other rows call otherwise."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.files import Files
from rosenblatt.data.sources import Paths
from rosenblatt.errors import InputError
from rosenblatt.models.rows import FileRows
from rosenblatt.models.train import TrainingPlan, plan_of
from rosenblatt.tasks import Task, task_of
from rosenblatt.tuning.folds import judged_folds
from rosenblatt.wording import counted


class Suspect(NamedTuple):
    """A row whose label is probably wrong; of several labels, one that is, or one that it lacks."""

    file: str
    line: int  # on which it begins, or the number of the row where a file has no lines
    label: Any  # that it has; a tuple of any number of them
    suggested: Any  # the most probable one; or of a tuple "remove X" or "add X"
    probability: float  # that it is right as it is, by models that have not seen the row
    values: dict[str, Any]  # of the columns that are learned from


@dataclass(frozen=True)
class Audit:
    """Rows that models of the other rows call otherwise, the least probable label first."""

    suspects: list[Suspect]
    n_rows: int
    task: Task  # of the learner
    folds: int
    title: str  # of the learner
    files: Files  # which know how they were read
    notes: list[str]  # on columns, and on rows that were skipped

    @property
    def summary(self) -> str:
        """How many labels are probably wrong."""
        return self.task.doubts(len(self.suspects), counted(self.n_rows, "row"))

    def report(self) -> dict[str, Any]:
        """Return everything as what JSON can hold."""
        rows = [suspect._asdict() for suspect in self.suspects]
        told = {"rows": self.n_rows, "folds": self.folds, "learner": self.title}
        return told | {"n_suspects": len(rows), "suspects": rows}


def audit(
    paths: Paths,
    *,
    folds: int = 5,
    tell: Callable[[int], object] = lambda _: None,
    **parameters: Any,
) -> Audit:
    r"""Return the rows of files whose labels are probably wrong, the least probable label first.

    The rows of each fold are scored by a model that has learned from all others, as ``evaluate
    --folds`` does. Scores are divided by the mean lead of their fold, so that folds compare, and
    become probabilities by one fit to all of them. A row is listed where another class is more
    probable than its label; where rows may have several labels, once for each label that it has
    and probably should not, and for each that it probably lacks. Equal rows are in one fold, unless
    there are more of them than folds, so that a copy with the same wrong label does not teach it.

    Parameters
    ----------
    paths : path, or sequence of paths
        Files or patterns of their names, all of one format; they are read twice.
    folds : int, default 5
        More folds learn from more rows, and take longer.
    tell : function
        Called with the number of each fold when it is done.
    **parameters
        Those of ``train_files`` that say what to learn.

    Returns
    -------
    Audit
        ``suspects``, each with ``file``, ``line``, ``label``, ``suggested``, ``probability`` and
        ``values``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rosenblatt import audit
    >>> rows = "spam,buy now\nham,see you\n" * 20 + "ham,buy now\n"
    >>> _ = Path("mail.csv").write_text(f"label,body\n{rows}")
    >>> found = audit("mail.csv", text="body")
    >>> [(row.line, row.label, row.suggested) for row in found.suspects]
    [(42, 'ham', 'spam')]
    """
    plan = plan_of(paths, **parameters)
    if not plan.source.rereadable:
        raise InputError("audit reads the data twice: give files, not standard input.")
    if plan.kernel is not None:
        plan.kernel.check(plan.learner, threshold=plan.wanted.threshold)
    plan, _ = plan.with_raced_columns()
    rows, shares = fold_probabilities(plan, folds, tell)
    doubts = plan.learner.answer.doubted(rows.classes, rows.numbers, rows.sets, shares)
    numbers = sorted({row for row, *_ in doubts})
    found = dict(zip(numbers, plan.source.found_rows({*numbers}), strict=True))
    suspects = [
        Suspect(found[row].file, found[row].line, label, suggested, probability, found[row].values)
        for row, label, suggested, probability in doubts
    ]
    suspects.sort(key=lambda row: row.probability)  # stable: equal ones as in the files
    facts = len(rows.numbers), plan.learner.answer, folds, plan.title
    return Audit(suspects, *facts, rows.files, rows.notes())


def fold_probabilities(
    plan: TrainingPlan, folds: int, tell: Callable[[int], object] = lambda _: None
) -> tuple[FileRows, NDArray[Any]]:
    """Return the rows of a plan, and the probability of each class by models of the other folds."""
    rows, results = judged_folds(plan, folds, together=True)
    task, n_rows = task_of(plan.learner.task, len(rows.classes)), len(rows.numbers)
    scores = np.zeros(n_rows if task.flat else (n_rows, task.n_classes))
    for number, fold in enumerate(results, 1):
        own = fold.judged.scores
        scores[fold.tried] = own / (float(np.abs(task.confidence(own)).mean()) or 1.0)
        tell(number)
    return rows, task.joint_probabilities(scores, rows.numbers, rows.sets)
