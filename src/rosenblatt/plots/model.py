"""The model of a fitted estimator: its weights with all that names them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rosenblatt.errors import InputError
from rosenblatt.estimators.base import OnlineClassifier
from rosenblatt.models.model import Model


def model_from(estimator: Any, feature_names: Sequence[str] | None = None) -> Model:
    """Return the model of an estimator of this package, or the model that is given itself."""
    if isinstance(estimator, Model):
        model = estimator
    elif isinstance(estimator, OnlineClassifier):
        if not hasattr(estimator, "classes_"):
            msg = f"The {type(estimator).__name__} is not fitted: fit it before it is drawn."
            raise InputError(msg)
        model = estimator.model_
    else:
        msg = (
            "This picture needs a fitted linear estimator of rosenblatt; got a "
            f"{type(estimator).__name__}."
        )
        raise InputError(msg)
    if feature_names is None:
        return model
    names = tuple(str(name) for name in feature_names)
    if len(names) != model.n_features:
        msg = f"feature_names has {len(names)} names for {model.n_features} features."
        raise InputError(msg)
    return replace(model, feature_names=names)
