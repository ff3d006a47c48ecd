"""Reports on fitted estimators and the arrays that they were fitted and tested on."""

import os
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from rosenblatt.data.atomic import replacing
from rosenblatt.data.batch import Batch
from rosenblatt.data.labels import Classes
from rosenblatt.errors import InputError
from rosenblatt.estimators.multilabel import label_rows
from rosenblatt.models.model import Model, model_of
from rosenblatt.models.record import Ending, TrainingFacts
from rosenblatt.models.rows import batch_of
from rosenblatt.report.findings import findings
from rosenblatt.report.page import page
from rosenblatt.report.sections import is_bounded
from rosenblatt.theory.diagnosis import diagnose


def write_report(
    estimator: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    X_train: Any = None,
    y_train: Any = None,
    name: str | None = None,
) -> None:
    """Write the report on a fitted estimator as one HTML file that needs no other.

    Parameters
    ----------
    estimator : a fitted classifier of this package
    path : where the page goes
        A file that is there is replaced when the new one is complete.
    X, y : rows with labels to judge it by, default None
        Rows it was not fitted on. They add errors, confusion and the hardest rows.
    X_train, y_train : the rows that it was fitted on, default None
        With them come the verdict, where rows have one label each, and, if it was fitted with
        ``record_mistakes=True``, which of them taught it the decisions on the hardest rows.
    name : title of the page, default the name of the class
    """
    html = html_report(estimator, X, y, X_train=X_train, y_train=y_train, name=name)
    with replacing(path, "w") as file:
        file.write(html)


def html_report(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    X_train: Any = None,
    y_train: Any = None,
    name: str | None = None,
) -> str:
    """Return the page of ``write_report`` as text.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> from rosenblatt.report import html_report
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]
    >>> page = html_report(Perceptron().fit(X, y), X, y, name="and")
    >>> "0 of 4 rows wrong" in page
    True
    """
    model = model_of(estimator)
    if X_train is not None:
        model = _with_training(model, estimator, X_train, y_train)
    test = None if X is None else [array_rows(model, X, y)]
    return page(findings(model, name=name or type(estimator).__name__, test=test))


def _with_training(model: Model, estimator: Any, X: Any, y: Any) -> Model:
    """Add class counts, verdict and recorded mistakes of the training rows."""
    batch, task = array_rows(model, X, y), model.task
    counts = task.class_counts(task.truths(model.classes).known(batch)[1])
    facts: TrainingFacts = {"n_rows": batch.n_rows, "class_counts": counts.tolist()}
    parts: dict[str, Any] = {}
    if hasattr(estimator, "mistakes_") and model.mistakes is None:
        rows = batch.csr(model.n_features, model.constant)
        taught = estimator.mistakes_
        listed = taught.of_rows(taught.updates, rows, taught.end)
        parts = {"machine": replace(model.linear, listed=listed)}
    verdict = model.verdict
    if verdict is None and task.contrasts:
        mistakes = estimator.n_mistakes_ if is_bounded(model) else None
        verdict = diagnose(X, y, mistakes=mistakes).as_json() | {"mistakes": mistakes}
    outcome = model.outcome
    if not model.options.get("early_stopping"):  # which holds some of them out
        outcome = Ending(n_learned=batch.n_rows) | outcome
    record = replace(model.record.with_facts(facts), outcome=outcome, verdict=verdict)
    return replace(model, record=record, **parts)


def array_rows(model: Model, X: Any, y: Any) -> Batch:
    """Return the rows of X with the labels y, the classes of the model first."""
    checked = check_array(X, accept_sparse="csr")
    given = label_rows(y) if model.task.name else None
    labels = column_or_1d(y) if given is None else given.numbers
    check_consistent_length(checked, labels)
    if checked.shape[1] != model.n_features:
        msg = f"X has {checked.shape[1]} features; the model was trained on {model.n_features}."
        raise InputError(msg)
    batch = batch_of(checked.astype(np.float64))
    if given is not None:
        return batch._replace(labels=labels, classes=given.label_sets())
    classes = Classes(model.classes)
    numbers = classes.codes(labels.tolist())
    return batch._replace(labels=numbers, classes=classes.labels)
