"""The scikit-learn face; nothing below it imports sklearn."""

from rosenblatt.estimators.linear import (
    AveragedPerceptron,
    ConfidenceWeightedClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
    RuleClassifier,
)
from rosenblatt.estimators.multilabel import MultilabelClassifier
from rosenblatt.estimators.voted import VotedPerceptron

__all__ = [
    "AveragedPerceptron",
    "ConfidenceWeightedClassifier",
    "MultilabelClassifier",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "RuleClassifier",
    "VotedPerceptron",
]
