"""Compiled scanners of text: numbers, svmlight lines, words and their hashes."""

MOST_FEATURE = 2**31 - 1  # what an index of 32 bits can hold
