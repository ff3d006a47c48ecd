"""Estimators to model files and back."""

import os
from typing import Any

from rosenblatt.errors import InputError
from rosenblatt.estimators.base import OnlineClassifier
from rosenblatt.estimators.classifiers import (
    AveragedPerceptron,
    PassiveAggressiveClassifier,
    Perceptron,
)
from rosenblatt.estimators.kernel import KernelPerceptron
from rosenblatt.estimators.stored import model_of, parameters_of, restore, told
from rosenblatt.estimators.voted import VotedPerceptron
from rosenblatt.models.file import Source, read, write

LEARNERS: dict[str, type[OnlineClassifier]] = {
    "Perceptron": Perceptron,
    "AveragedPerceptron": AveragedPerceptron,
    "PassiveAggressiveClassifier": PassiveAggressiveClassifier,
    "VotedPerceptron": VotedPerceptron,
    "KernelPerceptron": KernelPerceptron,
}


def save(estimator: Any, path: Source) -> None:
    """Write a fitted estimator to a model file.

    It keeps the parameters, the weights, the classes, the history, and all that training needs to
    go on exactly where it stopped. A ``random_state`` that is a generator, and ``observers``,
    can't be kept: they are None after loading, and a warning says so.

    Parameters
    ----------
    estimator : any classifier of rosenblatt, fitted
    path : str or path
        A file that is there is replaced when the new one is complete; ``"-"`` is standard output.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> from rosenblatt.estimators.files import load, save
    >>> folder = getfixture("tmp_path")
    >>> save(Perceptron().fit([[0.0], [1.0]], ["no", "yes"]), folder / "yes.model")
    >>> load(folder / "yes.model").predict([[2.0]])
    array(['yes'], dtype='<U3')
    """
    name = type(estimator).__name__
    if LEARNERS.get(name) is not type(estimator):
        msg = (
            f"save takes a fitted {_listed()} of rosenblatt; "
            f"got {told(estimator)} of {type(estimator).__module__}."
        )
        raise InputError(msg)
    if not hasattr(estimator, "_state") or len(estimator.classes_) == 0:
        msg = f"This {name} has learned nothing yet: fit it before it is saved."
        raise InputError(msg)
    write(model_of(estimator), path)


def load(path: Source) -> Any:
    """Return the estimator of a model file, fitted as it was.

    A model that ``rosenblatt train`` made from the columns of a file takes encoded rows; its
    attribute ``encoding_`` makes them.

    Raises
    ------
    InputError
        Where the file is no model, is damaged, or holds something that this version does not know.
    """
    model = read(path)
    name = "standard input" if path == "-" else os.fspath(path)
    kind = LEARNERS.get(model.learner)
    if kind is None:
        msg = (
            f"{name} holds a {model.learner!r:.60}, and this version of rosenblatt knows "
            f"{_listed()}: upgrade it."
        )
        raise InputError(msg)
    try:
        estimator: Any = kind(**parameters_of(kind, model.options))
        restore(estimator, model)
        if model.encoding is not None:
            from rosenblatt.data.encoding import encoding_from

            estimator.encoding_ = encoding_from(model.encoding, model.encoding_arrays)
    except (InputError, TypeError, ValueError, OverflowError) as error:
        msg = f"{name} cannot be used: {error}"
        raise InputError(msg) from error
    return estimator


def _listed() -> str:
    *others, last = LEARNERS
    return f"{', '.join(others)} or {last}"
