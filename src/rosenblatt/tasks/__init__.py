"""What an answer is: one file for each task, which owns all that depends on it.

Targets and passes, answers and losses, how sure an answer is, probabilities and thresholds, how
good predictions are, and the words for it. Elsewhere a task is asked, and no room asks which one
it is.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.parameters import check_parameters, one_of
from rosenblatt.tasks.label_sets import LabelSets
from rosenblatt.tasks.many_classes import ManyClasses
from rosenblatt.tasks.ranking import RankedLabels
from rosenblatt.tasks.sequences import Sequences
from rosenblatt.tasks.task import Task
from rosenblatt.tasks.two_classes import TwoClasses

__all__ = [
    "CLASSES",
    "SETS",
    "TASKS",
    "LabelSets",
    "ManyClasses",
    "RankedLabels",
    "Sequences",
    "Task",
    "TwoClasses",
    "asked_task",
    "check_task",
    "task_like",
    "task_of",
    "task_of_arrays",
]

CLASSES = ""  # the name of the usual task: each row has one class
SETS = LabelSets.name  # of the usual one where rows have sets of labels


def _classes(n_classes: int) -> Task:
    return TwoClasses() if n_classes == 2 else ManyClasses(n_classes)


# By the name under which a model file holds the task; what each makes of a number of classes
TASKS: dict[str, Callable[[int], Task]] = {
    CLASSES: _classes,
    LabelSets.name: LabelSets,
    RankedLabels.name: RankedLabels,
    Sequences.name: Sequences,
}


def task_of(name: str, n_classes: int = 0) -> Task:
    """Return the task of this name for so many classes or labels, none of which may be known.

    >>> task_of("", 2), task_of("each", 30).noun
    (TwoClasses(n_classes=2), 'label')
    """
    return TASKS[name](n_classes)


def asked_task(name: str | None, label_separator: str) -> Task:
    """Return the task of files that separate labels so, of this name if one is asked for.

    Raises InputError for a name that there is not, or for files without such answers.
    """
    if name not in {None, *TASKS} or name == CLASSES:
        named = [*filter(None, TASKS)]
        check_parameters("train_files", {"goal": name}, {"goal": one_of(named)})
    task = task_of(name or (SETS if label_separator else CLASSES))
    task.check_source(label_separator)
    return task


def check_task(name: str) -> None:
    """Raise InputError where there is no task of this name."""
    if name not in TASKS:
        named = ", ".join(filter(None, TASKS))
        raise InputError(f"There is no goal {name!r}; there are {named}.")


def task_like(answer: object) -> str:
    """Return the name of the first task whose rows have such an answer.

    >>> task_like("spam"), task_like({"game", "perl"})
    ('', 'each')
    """
    return next(name for name in TASKS if task_of(name).fits(answer))


def task_of_arrays(predicted: Any, n_classes: int) -> Task:
    """Return the task of any classifier, by the form of its predictions: labels or an indicator."""
    return LabelSets(n_classes) if np.ndim(predicted) == 2 else _classes(n_classes)
