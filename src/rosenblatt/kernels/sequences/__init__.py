"""Compiled parts of the structured perceptron: paths of tags, and the features of words."""
