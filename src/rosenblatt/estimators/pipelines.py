"""Pipelines of encoders and a classifier as one model, and back.

The encoders become the encoding of the model, as if ``rosenblatt train`` had made it from files, so
the commands predict with it, too.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from rosenblatt.data.encoding import ConjoinedEncoding, SvmlightEncoding, TableEncoding
from rosenblatt.errors import InputError
from rosenblatt.estimators.conjunctions import FeatureConjunctions
from rosenblatt.estimators.encoders import ColumnEncoder, TableEncoder, TextEncoder
from rosenblatt.models.model import Model

KEY = "pipeline"  # under which the training of a model holds the steps
ENCODERS: dict[str, Any] = {
    kind.__name__: kind for kind in (TableEncoder, TextEncoder, FeatureConjunctions)
}
STORED = (
    "a model file holds pipelines of TableEncoder or TextEncoder, then FeatureConjunctions where "
    "wanted, and a classifier of rosenblatt"
)


def pipeline_model(pipeline: Pipeline) -> Model:
    """Return the model that a fitted pipeline is; raise InputError for a step that it can't hold.

    Its last step must be a fitted classifier of this package.
    """
    *before, (_, classifier) = pipeline.steps
    encoding: Any = None
    for place, (name, step) in enumerate(before):
        of_columns = isinstance(step, (TableEncoder, TextEncoder)) and place == 0
        conjoins = isinstance(step, FeatureConjunctions) and place == len(before) - 1
        if not (of_columns or conjoins):
            kind = step if isinstance(step, str) else type(step).__name__
            msg = f"save cannot store the step {name!r}, {kind}: {STORED}."
            raise InputError(msg)
        check_is_fitted(step)
        encoding = step.encoding_ if of_columns else _conjoined(step, encoding)
    steps = [[name, type(step).__name__, _parameters(step)] for name, step in before]
    names = [name for name, _ in pipeline.steps]
    model: Model = classifier.model_
    return replace(
        model,
        feature_names=None,
        encoding=None if encoding is None else encoding.as_json(),
        encoding_arrays={} if encoding is None else encoding.arrays(),
        training=model.training | {KEY: {"steps": steps, "classifier": names[-1]}},
    )


def _conjoined(step: FeatureConjunctions, inner: Any) -> ConjoinedEncoding:
    if inner is None:
        inner = SvmlightEncoding(zero_based=True, n_features=step.n_features_in_)
    return ConjoinedEncoding(inner, step.degree, step._numbering)  # noqa: SLF001  # ours


def pipeline_of(model: Model, estimator_of: Callable[[Model], Any]) -> Pipeline:
    """Return the pipeline that a model was saved from; raise InputError where it can't be one."""
    stored = model.training[KEY]
    try:
        steps = [(str(name), ENCODERS[kind](**given)) for name, kind, given in stored["steps"]]
        last = str(stored["classifier"])
    except (KeyError, TypeError, ValueError) as error:
        msg = f"the steps of its pipeline are not known: {error}."
        raise InputError(msg) from error
    encoder = model.encoder
    inner = encoder.inner if isinstance(encoder, ConjoinedEncoding) else encoder
    for _, step in steps:
        for name, value in step.get_params(deep=False).items():
            if isinstance(value, list):
                setattr(step, name, tuple(value))
        if isinstance(step, ColumnEncoder) and isinstance(inner, TableEncoding):
            step.restore(inner)
        elif isinstance(step, FeatureConjunctions) and isinstance(encoder, ConjoinedEncoding):
            step.restore(encoder.numbering, encoder.inner.n_features)
        else:
            msg = "the steps of its pipeline do not fit its encoding."
            raise InputError(msg)
    training = {name: value for name, value in model.training.items() if name != KEY}
    bare = replace(model, encoding=None, encoding_arrays={}, training=training)
    return Pipeline([*steps, (last, estimator_of(bare))])


def _parameters(step: Any) -> dict[str, Any]:
    given: dict[str, Any] = step.get_params(deep=False)
    return {name: list(v) if isinstance(v, (list, tuple)) else v for name, v in given.items()}
