"""Parameters and attributes, each described once for all the estimators that have it."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

from rosenblatt.parameters import ESTIMATOR_SETTINGS, indented, parameter_lines

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

    The sections on parameters and attributes stand in place of {parameters} and {attributes}: of
    the parameters, those first that the class does not share with others.
    """

    def complete(cls: type[Class]) -> type[Class]:
        own = list(inspect.get_annotations(cls))
        cls = dataclass(kw_only=True, eq=False, repr=False)(cls)
        signature = inspect.signature(cls).parameters
        names = own + [name for name in signature if name not in own]
        defaults = {name: repr(signature[name].default) for name in names}
        for name, setting in ESTIMATOR_SETTINGS.items():
            if defaults.get(name) == "None" and parameters[name] == setting.text and setting.shown:
                defaults[name] = setting.shown
        fitted = [f"{name}\n{indented(text)}" for name, text in attributes.items()]
        text = inspect.cleandoc(cls.__doc__ or "")
        lines = f"Parameters\n----------\n{parameter_lines(parameters, defaults)}"
        text = text.replace("{parameters}", lines)
        text = text.replace("{attributes}", "\n".join(["Attributes", "----------", *fitted]))
        cls.__doc__ = text
        return cls

    return complete
