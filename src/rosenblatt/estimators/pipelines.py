"""Pipelines of encoders and a classifier as one model, and back.

The encoders become the encoding of the model, as if ``rosenblatt train`` had made it from files, so
the commands predict with it, too.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from rosenblatt.data.encoding import ConjoinedEncoding, ScaledEncoding, SvmlightEncoding
from rosenblatt.errors import InputError
from rosenblatt.estimators.conjunctions import FeatureConjunctions
from rosenblatt.estimators.encoders import ColumnEncoder, TableEncoder, TextEncoder
from rosenblatt.models.explanation import Explanation
from rosenblatt.models.explanation import explain as explain_model
from rosenblatt.models.file_rows import StoredEncoding
from rosenblatt.models.model import NO_ENCODING, Model

SCALER = "scaler."  # before the names of a scaler's arrays
ENCODERS: dict[str, Any] = {
    kind.__name__: kind for kind in (TableEncoder, TextEncoder, FeatureConjunctions)
}
SCALERS: dict[str, Any] = {
    kind.__name__: kind for kind in (StandardScaler, MinMaxScaler, MaxAbsScaler)
}
FITTED = ("mean_", "var_", "scale_", "min_", "max_abs_", "data_min_", "data_max_", "data_range_")
STORED = (
    "a model file holds pipelines of TableEncoder or TextEncoder, then FeatureConjunctions where "
    "wanted, or of StandardScaler, MinMaxScaler or MaxAbsScaler, and a classifier of rosenblatt"
)


def explain(fitted: Any, x: Any, label: Any = None, against: Any = None) -> Explanation:
    """Return what each feature of a row adds to the decision on it, by name, largest first.

    Parameters
    ----------
    fitted : fitted estimator of rosenblatt, pipeline that ``save`` takes, Model, or model file
        Where weight vectors vote, their average is explained: a vote is no sum of terms.
    x : dictionary, text, data frame of one row, array of shape (n_features,)
        The row: of the kind that the model was trained on.
    label : class or label, default None
        Of more than two classes the one whose lead is explained, or of several labels that a row
        may have the one whose score is; by default the best one.
    against : class, default None
        Of more than two classes the one that it is set against, such as the row's own label. By
        default that label where the row has it in a column. Where that is the class explained, or
        there is none, it is the runner-up.

    Returns
    -------
    Explanation
        ``terms``, each with ``name``, ``value``, ``weight`` and ``amount``, ``bias`` and
        ``total``. Positive amounts speak for the class ``positive``.

    Examples
    --------
    >>> from rosenblatt import Perceptron, explain
    >>> clf = Perceptron(shuffle=False).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> found = explain(clf, [1, 1])
    >>> [(term.name, term.amount) for term in found.terms], found.bias, found.total
    ([('feature 0', 3.0), ('feature 1', 2.0)], -4.0, 1.0)
    """
    if isinstance(fitted, str | PathLike):
        fitted = Model.load(fspath(fitted))
    fitted = pipeline_model(fitted) if isinstance(fitted, Pipeline) else fitted
    return explain_model(fitted, x, label, against)


def pipeline_model(pipeline: Pipeline) -> Model:
    """Return a fitted pipeline as a model; raise InputError for a step that no model can hold.

    Its last step must be a fitted classifier of this package.
    """
    *before, (_, classifier) = pipeline.steps
    encoding: Any = None
    arrays: dict[str, NDArray[Any]] = {}
    for place, (name, step) in enumerate(before):
        if type(step) in SCALERS.values() and len(before) == 1:
            check_is_fitted(step)
            encoding, arrays = _scaling(step), _fitted_arrays(step)
            continue
        of_columns = isinstance(step, (TableEncoder, TextEncoder)) and place == 0
        conjoins = isinstance(step, FeatureConjunctions) and place == len(before) - 1
        if not (of_columns or conjoins):
            kind = step if isinstance(step, str) else type(step).__name__
            raise InputError(f"save cannot store the step {name!r}, {kind}: {STORED}.")
        check_is_fitted(step)
        encoding = step.encoding_ if of_columns else _conjoined(step, encoding)
    stored = NO_ENCODING
    if encoding is not None:
        stored = StoredEncoding(encoding.as_json(), encoding.arrays() | arrays)
    steps = [[name, type(step).__name__, _parameters(step)] for name, step in before]
    names = [name for name, _ in pipeline.steps]
    model: Model = classifier.model_
    return model.with_facts(
        {"pipeline": {"steps": steps, "classifier": names[-1]}},
        feature_names=None,
        stored_encoding=stored,
    )


def _scaling(step: Any) -> ScaledEncoding:
    """Return what a fitted scaler does to the rows of an array."""
    n = step.n_features_in_
    scale = getattr(step, "scale_", None)
    scale = np.ones(n) if scale is None else scale
    centre = np.zeros(n) if getattr(step, "mean_", None) is None else step.mean_
    if isinstance(step, StandardScaler) and not step.with_mean:
        centre = np.zeros(n)
    if isinstance(step, MinMaxScaler):
        if step.clip:
            raise InputError("save cannot store a MinMaxScaler with clip=True: leave clip out.")
        centre, scale = -step.min_ / scale, 1.0 / scale
    names = getattr(step, "feature_names_in_", None)
    return ScaledEncoding(centre, scale, None if names is None else tuple(map(str, names)))


def _fitted_arrays(step: Any) -> dict[str, NDArray[Any]]:
    """Return the fitted numbers of a scaler by their names in scikit-learn."""
    seen = np.atleast_1d(np.asarray(step.n_samples_seen_, np.int64))
    found = {name: vars(step)[name] for name in FITTED if vars(step).get(name) is not None}
    return {f"{SCALER}{name}": array for name, array in found.items()} | {f"{SCALER}seen": seen}


def _restore_scaler(
    step: Any, arrays: Mapping[str, NDArray[Any]], encoding: ScaledEncoding
) -> None:
    """Set the fitted numbers of a scaler, as ``_fitted_arrays`` returned them."""
    for name in FITTED:
        array = arrays.get(f"{SCALER}{name}")
        if array is not None and array.shape != (encoding.n_features,):
            raise InputError("the numbers of its scaler do not fit its features.")
        if array is not None or (isinstance(step, StandardScaler) and name in FITTED[:3]):
            setattr(step, name, array)
    seen = arrays[f"{SCALER}seen"]
    step.n_samples_seen_ = seen if len(seen) > 1 else int(seen[0])
    step.n_features_in_ = encoding.n_features
    names = encoding.as_json()["names"]
    if names is not None:
        step.feature_names_in_ = np.array(names, object)
    if isinstance(step, MinMaxScaler):
        step.data_range_ = step.data_max_ - step.data_min_


def _conjoined(step: FeatureConjunctions, inner: Any) -> ConjoinedEncoding:
    if inner is None:
        inner = SvmlightEncoding(zero_based=True, n_features=step.n_features_in_)
    return ConjoinedEncoding(inner, step.degree, step._numbering)  # noqa: SLF001  # ours


def pipeline_of(model: Model, estimator_of: Callable[[Model], Any]) -> Pipeline:
    """Return the pipeline that a model was saved from; raise InputError where it can't be one."""
    stored = model.training["pipeline"]
    try:
        kinds = ENCODERS | SCALERS
        steps = [(str(name), kinds[kind](**given)) for name, kind, given in stored["steps"]]
        last = str(stored["classifier"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"the steps of its pipeline are not known: {error}.") from error
    encoder = model.encoder
    for _, step in steps:
        for name, value in step.get_params(deep=False).items():
            if isinstance(value, list):
                setattr(step, name, tuple(value))
        if isinstance(step, ColumnEncoder) and model.table is not None:
            step.restore(model.table)
        elif isinstance(step, FeatureConjunctions) and isinstance(encoder, ConjoinedEncoding):
            numbering: Any = encoder.numbering
            step.restore(numbering, encoder.inner.n_features)
        elif type(step) in SCALERS.values() and isinstance(encoder, ScaledEncoding):
            _restore_scaler(step, model.encoding_arrays, encoder)
        else:
            raise InputError("the steps of its pipeline do not fit its encoding.")
    training = model.training.copy()
    del training["pipeline"]
    record = replace(model.record, training=training)
    bare = replace(model, stored_encoding=NO_ENCODING, record=record)
    return Pipeline([*steps, (last, estimator_of(bare))])


def _parameters(step: Any) -> dict[str, Any]:
    given: dict[str, Any] = step.get_params(deep=False)
    return {name: list(v) if isinstance(v, (list, tuple)) else v for name, v in given.items()}
