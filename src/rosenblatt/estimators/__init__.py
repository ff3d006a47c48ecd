"""The scikit-learn face: the one layer that imports sklearn."""

from rosenblatt.estimators.linear import (
    AveragedPerceptron,
    PassiveAggressiveClassifier,
    Perceptron,
)
from rosenblatt.estimators.voted import VotedPerceptron

__all__ = ["AveragedPerceptron", "PassiveAggressiveClassifier", "Perceptron", "VotedPerceptron"]
