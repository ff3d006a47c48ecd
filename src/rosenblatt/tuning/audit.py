"""Labels that are probably wrong: rows that models of the other rows call otherwise."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.files import Files
from rosenblatt.errors import InputError
from rosenblatt.models.calibration import (
    fit_calibration,
    fit_joint_calibration,
    label_probabilities,
    probabilities,
)
from rosenblatt.models.model import label_sets
from rosenblatt.models.rows import FileRows
from rosenblatt.models.train import TrainingPlan, plan_of
from rosenblatt.training.examples import has_label, winner_leads
from rosenblatt.tuning.folds import Names, judged_folds


class Suspect(NamedTuple):
    """A row whose label is probably wrong; of several labels, one that is, or one that it lacks."""

    file: str
    line: int  # on which it begins, or the number of the row where a file has no lines
    label: Any  # that it has; a tuple where a row may have several
    suggested: Any  # the most probable one; of several labels "remove X" or "add X"
    probability: float  # that it is right as it is, by models that have not seen the row
    values: dict[str, Any]  # of the columns that are learned from


@dataclass(frozen=True)
class Audit:
    """Rows that models of the other rows call otherwise, the least probable label first."""

    suspects: list[Suspect]
    n_rows: int
    several: bool  # whether a row may have several labels
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
    probable than its label; where rows may have several labels, once for each label that it has
    and probably should not, and for each that it probably lacks. Equal rows are in one fold, unless
    there are more of them than folds, so that a copy with the same wrong label does not teach it.

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
    if not plan.source.rereadable:
        raise InputError("audit reads the data twice: give files, not standard input.")
    if plan.kernel is not None:
        plan.kernel.check(plan.learner, threshold=plan.wanted.threshold)
    rows, shares = fold_probabilities(plan, folds, tell)
    doubts = _doubts(rows, shares)
    numbers = sorted({row for row, *_ in doubts})
    found = dict(zip(numbers, plan.source.found_rows({*numbers}), strict=True))
    suspects = [
        Suspect(found[row].file, found[row].line, label, suggested, probability, found[row].values)
        for row, label, suggested, probability in doubts
    ]
    suspects.sort(key=lambda row: row.probability)  # stable: equal ones as in the files
    several = rows.sets is not None
    return Audit(suspects, len(rows.numbers), several, folds, plan.title, rows.files, rows.notes())


def _doubts(rows: FileRows, shares: NDArray[Any]) -> list[tuple[int, Any, Any, float]]:
    """Return rows by number, each with its label, the one suggested and the probability of its own.

    Where rows may have several labels, it is the probability of having or lacking one.
    """
    classes, numbers = rows.classes, rows.numbers
    if rows.sets is None:
        own, guess = shares[np.arange(len(numbers)), numbers], shares.argmax(axis=1)
        doubtful = np.flatnonzero(shares.max(axis=1) > own).tolist()
        return [(k, classes[numbers[k]], classes[guess[k]], float(own[k])) for k in doubtful]
    given = has_label(rows.sets, numbers, len(classes))
    own, labels = np.where(given, shares, 1.0 - shares), label_sets(np.array(classes), given)
    return [
        (k, labels[k], f"{'remove' if given[k, j] else 'add'} {classes[j]}", float(own[k, j]))
        for k, j in np.argwhere(own < 0.5).tolist()
    ]


def fold_probabilities(
    plan: TrainingPlan, folds: int, tell: Callable[[int], object] = lambda _: None
) -> tuple[FileRows, NDArray[Any]]:
    """Return the rows of a plan, and the probability of each class by models of the other folds.

    Or of each label where rows may have several: by one sigmoid for all of them, since a label that
    few rows have would take its own from chance.
    """
    rows, results = judged_folds(plan, folds, together=True)
    n_rows, n_classes, sets = len(rows.numbers), len(rows.classes), rows.sets
    scores = np.zeros(n_rows if n_classes == 2 and sets is None else (n_rows, n_classes))
    for number, fold in enumerate(results, 1):
        sizes = winner_leads(fold.scores) if sets is None else np.abs(fold.scores)
        scores[fold.tried] = fold.scores / (float(sizes.mean()) or 1.0)
        tell(number)
    if sets is None:
        return rows, probabilities(fit_calibration(scores, rows.numbers), scores)
    joint = fit_joint_calibration(scores, has_label(sets, rows.numbers, n_classes))
    return rows, label_probabilities(np.array([joint.slope, joint.offset]), scores)
