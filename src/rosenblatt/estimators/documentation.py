"""Parameters and attributes, each described once for all the estimators that have it."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

from rosenblatt.parameters import (
    ESTIMATOR_SETTINGS,
    Check,
    indented,
    parameter_lines,
    type_in_words,
)

Class = TypeVar("Class")

PARAMETERS = {name: setting.text for name, setting in ESTIMATOR_SETTINGS.items()}

ATTRIBUTES = {
    "coef_": "Weights: (1, n_features) for two classes, else (n_classes, n_features).",
    "intercept_": "Bias: (1,) for two classes, else (n_classes,).",
    "classes_": "Sorted labels; of two, the second is the positive one.",
    "n_features_in_": "Number of features.",
    "feature_names_in_": "Names of the features, where X was a data frame.",
    "n_iter_": "Passes made.",
    "best_iter_": "The pass whose weights are returned: the last, or the best with early stopping.",
    "converged_": (
        "Whether the last weights were seen to classify every training row. (The average of all "
        "weights, and the best ones by early stopping, need not.)"
    ),
    "n_mistakes_": "Mistakes in all passes.",
    "mistakes_": "All updates of the last fit, in order (only with ``record_mistakes=True``).",
    "history_": (
        "One record a pass: ``pass_``, ``mistakes``, ``updates``, ``loss`` (Σ of −y·a over the "
        "mistakes), ``validation_score``, ``seconds``."
    ),
    "stop_reason_": '"converged", "max_iter", "early_stopping", "time_limit" or "interrupted".',
}
UNRECORDED = {name: text for name, text in ATTRIBUTES.items() if name != "mistakes_"}


@dataclass_transform(kw_only_default=True, eq_default=False)
def estimator_class(
    parameters: Mapping[str, str] = PARAMETERS, attributes: Mapping[str, str] = ATTRIBUTES
) -> Callable[[type[Class]], type[Class]]:
    """Make the constructor of a class from its fields, and describe them in its docstring.

    The sections on parameters and attributes stand in place of {parameters} and {attributes}. Of
    the parameters, in the signature as in the docs, those come first that the class does not share
    with others.
    """

    def complete(cls: type[Class]) -> type[Class]:
        own = list(inspect.get_annotations(cls))
        cls = dataclass(kw_only=True, eq=False, repr=False)(cls)
        signature = inspect.signature(cls.__init__)
        given = dict(signature.parameters)
        myself = given.pop("self")
        given = {name: given[name] for name in [*own, *given]}
        vars(cls.__init__)["__signature__"] = signature.replace(
            parameters=[myself, *given.values()]
        )
        defaults = {name: repr(parameter.default) for name, parameter in given.items()}
        types = {name: _type_of(one, parameters[name]) for name, one in given.items()}
        for name, setting in ESTIMATOR_SETTINGS.items():
            if defaults.get(name) == "None" and parameters[name] == setting.text and setting.shown:
                defaults[name] = setting.shown
        fitted = [f"{name}\n{indented(text)}" for name, text in attributes.items()]
        text = inspect.cleandoc(cls.__doc__ or "")
        lines = f"Parameters\n----------\n{parameter_lines(parameters, types, defaults)}"
        text = text.replace("{parameters}", lines)
        text = text.replace("{attributes}", "\n".join(["Attributes", "----------", *fitted]))
        cls.__doc__ = text
        return cls

    return complete


def _type_of(parameter: inspect.Parameter, text: str) -> str:
    """Return the type of a parameter; a class that says other things of it accepts other words."""
    setting = ESTIMATOR_SETTINGS.get(parameter.name)
    check = None if setting is None or parameter.name == "rule" else setting.check
    own = setting is not None and setting.text != text
    return type_in_words(parameter.annotation, None if own and isinstance(check, Check) else check)
