"""Parameters and attributes, each described once for all the estimators that have it."""

import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

Class = TypeVar("Class")

PARAMETERS = {
    "max_iter": "Passes over the data at most. Training ends sooner on a pass without a mistake.",
    "shuffle": (
        "True: a new random order for every pass, which needs the fewest passes. "
        '"once": one random order for all passes. "blocks": for data much larger than the cache of '
        "the processor, blocks of 256 kB in random order, and the rows of each in one of its own, "
        "anew for every pass; faster, but not for rows sorted by class. False: as given."
    ),
    "zero": (
        'What an activation of exactly 0 means while training. "mistake": wrong for both labels, '
        'so that learning can start from zero weights. "negative" or "positive": it predicts that '
        "class, as some texts have it. Between several classes, a tie likewise."
    ),
    "eta0": "Length of a step, above 0. From zero weights it only scales; no prediction changes.",
    "margin": (
        "Also step on rows that are right by no more than this, at least 0. Above 0 it is the "
        "margin perceptron, which ends with a wider gap and takes more passes."
    ),
    "C": (
        "Limit on a step, above 0: smaller learns slower and minds noise less. Infinity gives the "
        "rule without a limit."
    ),
    "rule": (
        '"arow": steps towards margin 1 and forgives noise. "cw": the smallest change after which '
        'the row is right with the confidence asked for. "scw1" and "scw2": as "cw", with steps '
        "limited or softened by C."
    ),
    "r": 'Caution of "arow", above 0: the larger, the less a single row counts.',
    "confidence": (
        'Of "cw", "scw1" and "scw2": the probability, between 0.5 and 1, with which each row is '
        "to be right."
    ),
    "loss": '"hinge": steps are cut off at C (PA-I). "squared_hinge": C softens them (PA-II).',
    "average": "Return the mean of all weight vectors of training in place of the last one.",
    "fit_intercept": "Learn a bias: the weight of a constant feature 1, which counts in ‖x‖² too.",
    "early_stopping": (
        "Hold rows out, score after every pass the weights that would be returned, stop when the "
        "score no longer rises, and return the best."
    ),
    "validation_fraction": "Share of each class to hold out for early stopping, between 0 and 1.",
    "n_iter_no_change": "Passes without a better held-out score before early stopping, at least 1.",
    "time_limit": "Seconds after which no further pass is begun; None for no limit.",
    "class_weight": (
        'Multiplies the steps of a class: a dictionary, or "balanced" for weights in inverse '
        "proportion to the number of rows of each class."
    ),
    "calibrate": (
        "Fit probabilities (``predict_proba``) to the scores of rows that were not learned from: "
        "estimators like this one learn from a part of the rows and score the others, in five "
        'folds, or once where there are many rows. "sigmoid", "temperature" or "isotonic" say how '
        'scores become probabilities. True: "sigmoid" for two classes and else "temperature". The '
        "label is the most probable class: of two, the bias moves to where both are equally so."
    ),
    "record_mistakes": (
        "Keep the list of updates in ``mistakes_``: which row, how far, when. It says which rows "
        "taught a decision (``rosenblatt.why``), and grows with every mistake."
    ),
    "warm_start": "Go on from the weights of the last fit in place of starting anew.",
    "random_state": (
        "Seed of the shuffling and of the rows held out: the same seed gives the same model, on "
        "every platform. None: another one each time."
    ),
    "verbose": "Show a bar with passes and mistakes on standard error.",
    "observers": "Functions to call with the record of every pass (see ``history_``).",
}

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
    "mistakes_": "Every update of the last fit in order, where ``record_mistakes`` says so.",
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
        told = [
            f"{name} : default {signature[name].default!r}\n{_indented(parameters[name])}"
            for name in names
        ]
        fitted = [f"{name}\n{_indented(text)}" for name, text in attributes.items()]
        cls.__doc__ = inspect.cleandoc(cls.__doc__ or "").format(
            parameters="\n".join(["Parameters", "----------", *told]),
            attributes="\n".join(["Attributes", "----------", *fitted]),
        )
        return cls

    return complete


def _indented(text: str) -> str:
    return textwrap.fill(text, 96, initial_indent="    ", subsequent_indent="    ")
