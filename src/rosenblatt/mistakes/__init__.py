"""A perceptron is the list of its mistakes: the list, the rows that taught, and what it says."""
