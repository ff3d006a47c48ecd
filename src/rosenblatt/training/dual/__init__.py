"""Learning in the dual: the kernel perceptron, its Gram blocks and its budgets."""
