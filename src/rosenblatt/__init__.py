"""The perceptron family, with the scikit-learn interface.

Public names are resolved on first use, so that a command that needs none of them starts at once:
scikit-learn alone takes a second to import.
"""

from typing import TYPE_CHECKING

from rosenblatt.lazy import lazy_names
from rosenblatt.version import __version__ as __version__  # offered here, too

if TYPE_CHECKING:
    from rosenblatt.estimators import (
        AveragedPerceptron,
        ConfidenceWeightedClassifier,
        PassiveAggressiveClassifier,
        Perceptron,
        RuleClassifier,
        VotedPerceptron,
    )
    from rosenblatt.estimators.conjunctions import FeatureConjunctions
    from rosenblatt.estimators.encoders import TableEncoder, TextEncoder
    from rosenblatt.estimators.kernel import KernelPerceptron
    from rosenblatt.estimators.pipelines import explain
    from rosenblatt.estimators.storage import load, save, train_files
    from rosenblatt.models.online import OnlineLearner
    from rosenblatt.models.provenance import why
    from rosenblatt.models.sparsity import sparsify
    from rosenblatt.theory.diagnosis import diagnose
    from rosenblatt.theory.margin import margin
    from rosenblatt.tracing import trace
    from rosenblatt.tuning.tune import tune

__all__ = [
    "AveragedPerceptron",
    "ConfidenceWeightedClassifier",
    "FeatureConjunctions",
    "KernelPerceptron",
    "OnlineLearner",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "RuleClassifier",
    "TableEncoder",
    "TextEncoder",
    "VotedPerceptron",
    "diagnose",
    "explain",
    "load",
    "margin",
    "save",
    "sparsify",
    "trace",
    "train_files",
    "tune",
    "why",
]

_HOMES = {
    "AveragedPerceptron": "rosenblatt.estimators",
    "ConfidenceWeightedClassifier": "rosenblatt.estimators",
    "FeatureConjunctions": "rosenblatt.estimators.conjunctions",
    "KernelPerceptron": "rosenblatt.estimators.kernel",
    "OnlineLearner": "rosenblatt.models.online",
    "PassiveAggressiveClassifier": "rosenblatt.estimators",
    "Perceptron": "rosenblatt.estimators",
    "RuleClassifier": "rosenblatt.estimators",
    "TableEncoder": "rosenblatt.estimators.encoders",
    "TextEncoder": "rosenblatt.estimators.encoders",
    "VotedPerceptron": "rosenblatt.estimators",
    "diagnose": "rosenblatt.theory.diagnosis",
    "explain": "rosenblatt.estimators.pipelines",
    "load": "rosenblatt.estimators.storage",
    "margin": "rosenblatt.theory.margin",
    "save": "rosenblatt.estimators.storage",
    "sparsify": "rosenblatt.models.sparsity",
    "trace": "rosenblatt.tracing",
    "train_files": "rosenblatt.estimators.storage",
    "tune": "rosenblatt.tuning.tune",
    "why": "rosenblatt.models.provenance",
}


__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
