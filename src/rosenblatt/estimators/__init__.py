"""The scikit-learn face: the one layer that imports sklearn."""

from rosenblatt.estimators.classifiers import (
    AveragedPerceptron,
    PassiveAggressiveClassifier,
    Perceptron,
)

__all__ = ["AveragedPerceptron", "PassiveAggressiveClassifier", "Perceptron"]
