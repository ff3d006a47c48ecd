"""Estimators to model files and back."""

import os
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, get_args

import numpy as np
from sklearn.pipeline import Pipeline

from rosenblatt.errors import InputError
from rosenblatt.estimators.base import CLASSES, FittedClassifier
from rosenblatt.estimators.pipelines import pipeline_model, pipeline_of
from rosenblatt.models.file import Source, read, write
from rosenblatt.models.learner_record import ESTIMATOR_NAMES, lost_options
from rosenblatt.models.model import Model, model_of
from rosenblatt.models.online import OnlineLearner
from rosenblatt.models.record import PassFacts, Record, pass_facts
from rosenblatt.models.train import model_from_files
from rosenblatt.training.history import Outcome, PassRecord, StopReason
from rosenblatt.wording import word_list

P = ParamSpec("P")
RARE = ("kernel", "sequences")  # modules of estimators that most have no use for
LABEL_TYPE = re.compile(r"[<>|](?:[biuf][1-9][0-9]?|U[1-9][0-9]{0,3}|O)")


def save(estimator: Any, path: Source) -> None:
    """Write a fitted estimator to a model file.

    It keeps the parameters, the weights, the classes, the history, and all that training needs to
    go on exactly where it stopped. A ``random_state`` that is a generator, and ``observers``,
    can't be kept: they are None after loading, and a warning says so.

    Parameters
    ----------
    estimator : any classifier of rosenblatt, fitted, a Model or an OnlineLearner
        Or a scikit-learn Pipeline of TableEncoder or TextEncoder, FeatureConjunctions, and a
        classifier; or of StandardScaler, MinMaxScaler or MaxAbsScaler, and a classifier.
    path : str or path
        A file that is there is replaced when the new one is complete; ``"-"`` is standard output.

    Examples
    --------
    >>> from rosenblatt import Perceptron, load, save
    >>> save(Perceptron().fit([[0.0], [1.0]], ["no", "yes"]), "yes.model")
    >>> load("yes.model").predict([[2.0]])
    array(['yes'], dtype='<U3')
    """
    if isinstance(estimator, Model | OnlineLearner):
        write(model_of(estimator), path)
        return
    piped = isinstance(estimator, Pipeline)
    classifier = estimator.steps[-1][1] if piped else estimator
    name = type(classifier).__name__
    if CLASSES.get(name) is not type(classifier):
        what = f"as the last step {estimator.steps[-1][0]!r} " if piped else ""
        raise InputError(
            f"save takes {what}a fitted {word_list(ESTIMATOR_NAMES, joint=' or ')} of rosenblatt; "
            f"got a {name} of {type(classifier).__module__}."
        )
    if not hasattr(classifier, "classes_") or len(classifier.classes_) == 0:
        raise InputError(f"This {name} has learned nothing yet: fit it before it is saved.")
    model = pipeline_model(estimator) if piped else classifier.model_
    parameters = classifier.get_params(deep=False)
    write(model, path)
    for lost in lost_options(parameters):
        msg = (
            f"{lost} is a {type(parameters[lost]).__name__}, which a model file cannot hold: "
            "it will be None in what is loaded."
        )
        warnings.warn(msg, UserWarning, stacklevel=2)


def load(path: Source | Model) -> FittedClassifier:
    """Return the estimator or the pipeline of a model file or a ``Model``, fitted as it was.

    It takes the rows that it was trained on. A model that ``rosenblatt train`` made from columns
    takes data frames (pandas, polars or Arrow) or lists of dictionaries that have them, in any
    order and beside others, and one made from texts alone takes lists of texts. They are scaled and
    encoded as in training. ``feature_names_in_`` are the columns, and the attribute ``encoding_``
    names the features that become of them. A pipeline has the type of its classifier here.

    Raises
    ------
    InputError
        Where the file is no model, is damaged, or holds something that this version does not know.
    """
    if isinstance(path, Model):
        model, name = path, "The model"
    else:
        model, name = read(path), "standard input" if path == "-" else os.fspath(path)
    model.made_by.check(name)
    try:
        piped = "pipeline" in model.training
        found: Any = pipeline_of(model, estimator_of) if piped else estimator_of(model)
    except (InputError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} cannot be used: {error}") from error
    fitted: FittedClassifier = found
    return fitted


def estimator_of(model: Model) -> FittedClassifier:
    """Return the estimator around a model; raise InputError where it has none."""
    for own in RARE:
        if model.learner not in CLASSES:
            import_module(f"rosenblatt.estimators.{own}")
    if model.learner not in CLASSES:
        msg = f"there is no class {model.learner:.60} here: import the module that defines it."
        raise InputError(msg)
    found: FittedClassifier = CLASSES[model.learner].of_model(_checked(model))
    return found


def _loading(train: Callable[P, Model]) -> Callable[P, FittedClassifier]:
    """Return a function that returns the estimator around the model that another one makes."""

    @wraps(train)
    def trained(*arguments: P.args, **settings: P.kwargs) -> FittedClassifier:
        return load(train(*arguments, **settings))

    trained.__name__ = trained.__qualname__ = "train_files"
    return trained


train_files = _loading(model_from_files)


def _checked(model: Model) -> Model:
    """Return the model with a complete record of its training, or raise for what is unknown."""
    kind: object = model.training.get("label_type")  # whatever stands in the file
    if kind is not None and not (isinstance(kind, str) and LABEL_TYPE.fullmatch(kind)):
        raise InputError(f"its labels are of an unknown type, {kind!r:.60}; upgrade rosenblatt.")
    with np.errstate(over="ignore"):
        labels = model.labels
    if labels.tolist() != list(model.classes):
        raise InputError(f"its classes do not fit into their type, {labels.dtype}.")
    passes = [_pass(facts) for facts in model.history]
    outcome = Record.of(Outcome(passes, "max_iter", len(passes)), {}).outcome | model.outcome
    for name in ("best_pass", "n_iter", "n_mistakes"):
        if type(outcome[name]) is not int:
            raise InputError(f"its {name} must be an integer; got {outcome[name]!r:.60}.")
    if outcome["stop_reason"] not in get_args(StopReason):
        raise InputError(f"its stop_reason is {outcome['stop_reason']!r:.60}; upgrade rosenblatt.")
    training = model.training | {"label_type": labels.dtype.str}
    record = Record(pass_facts(passes), outcome, training, model.verdict)
    return replace(model, record=record)


def _pass(facts: PassFacts) -> PassRecord:
    missing = {*PassRecord._fields} - facts.keys()
    if missing:
        raise InputError(f"a pass in its history has no {min(missing)!r}.")
    known: dict[str, Any] = {**facts}
    return PassRecord(*(known[name] for name in PassRecord._fields))
