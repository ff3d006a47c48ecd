"""Labels that are probably wrong: rows that models of the other rows call otherwise."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.files import Files
from rosenblatt.errors import InputError
from rosenblatt.models.calibration import fit_calibration, probabilities
from rosenblatt.models.learner import several_labels
from rosenblatt.models.rows import FileRows
from rosenblatt.models.train import TrainingPlan, plan_of
from rosenblatt.training.examples import winner_leads
from rosenblatt.tuning.folds import Names, judged_folds


class Suspect(NamedTuple):
    """A row whose label is probably wrong."""

    file: str
    line: int  # on which it begins, or the number of the row where a file has no lines
    label: Any  # that it has
    suggested: Any  # the most probable one
    probability: float  # of the label that it has, by models that have not seen the row
    values: dict[str, Any]  # of the columns that are learned from


@dataclass(frozen=True)
class Audit:
    """Rows that models of the other rows call otherwise, the least probable label first."""

    suspects: list[Suspect]
    n_rows: int
    folds: int
    title: str  # of the learner
    files: Files  # which know how they were read
    notes: list[str]  # on columns, and on rows that were skipped

    def report(self) -> dict[str, Any]:
        """Return everything as what JSON can hold."""
        rows = [suspect._asdict() for suspect in self.suspects]
        told = {"rows": self.n_rows, "folds": self.folds, "learner": self.title}
        return told | {"n_suspects": len(rows), "suspects": rows}


def audit(
    paths: Names,
    *,
    folds: int = 5,
    tell: Callable[[int], object] = lambda _: None,
    **parameters: Any,
) -> Audit:
    r"""Return the rows of files whose labels are probably wrong, the least probable label first.

    The rows of each fold are scored by a model that has learned from all others, as ``evaluate
    --folds`` does. Scores are divided by the mean lead of their fold, so that folds compare, and
    become probabilities by one fit to all of them. A row is listed where another class is more
    probable than its label.

    Parameters
    ----------
    paths : str or sequence of str
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
    >>> from rosenblatt import audit
    >>> path = getfixture("tmp_path") / "mail.csv"
    >>> _ = path.write_text("label,body\n" + "spam,buy now\nham,see you\n" * 20 + "ham,buy now\n")
    >>> found = audit(str(path), text="body")
    >>> [(row.line, row.label, row.suggested) for row in found.suspects]
    [(42, 'ham', 'spam')]
    """
    plan = plan_of(paths, **parameters)
    if plan.learner.labels:
        raise several_labels("An audit")
    if not plan.source.rereadable:
        raise InputError("audit reads the data twice: give files, not standard input.")
    if plan.kernel is not None:
        plan.kernel.check(plan.learner, threshold=plan.wanted.threshold)
    rows, shares = fold_probabilities(plan, folds, tell)
    numbers, classes = rows.numbers, rows.classes
    own, guess = shares[np.arange(len(numbers)), numbers], shares.argmax(axis=1)
    doubtful = np.flatnonzero(shares.max(axis=1) > own).tolist()
    found = plan.source.found_rows({*doubtful})
    suspects = [
        Suspect(file, line, classes[numbers[k]], classes[guess[k]], float(own[k]), values)
        for k, (file, line, values) in zip(doubtful, found, strict=True)
    ]
    suspects.sort(key=lambda row: row.probability)  # stable: equal ones as in the files
    return Audit(suspects, len(numbers), folds, plan.title, rows.files, rows.notes())


def fold_probabilities(
    plan: TrainingPlan, folds: int, tell: Callable[[int], object] = lambda _: None
) -> tuple[FileRows, NDArray[Any]]:
    """Return the rows of a plan, and the probability of each class by models of the other folds."""
    rows, results = judged_folds(plan, folds)
    n_rows, n_classes = len(rows.numbers), len(rows.classes)
    scores = np.zeros(n_rows if n_classes == 2 else (n_rows, n_classes))
    for number, fold in enumerate(results, 1):
        scores[fold.tried] = fold.scores / (float(winner_leads(fold.scores).mean()) or 1.0)
        tell(number)
    return rows, probabilities(fit_calibration(scores, rows.numbers), scores)
