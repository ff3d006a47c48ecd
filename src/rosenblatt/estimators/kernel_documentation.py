"""Parameters and attributes that only the kernel perceptron has, each described once."""

from rosenblatt.estimators.documentation import ATTRIBUTES, PARAMETERS

KERNEL_PARAMETERS = PARAMETERS | {
    "kernel": (
        '"linear": x·x′. "poly": (γ·x·x′ + coef0)^degree. "rbf": exp(−γ·‖x − x′‖²). '
        '"precomputed": X is the matrix of kernel values, of each row against the training rows. '
        "Or a symmetric function of two matrices that returns the matrix of their values."
    ),
    "degree": "Degree of the polynomial kernel, an integer of at least 1.",
    "gamma": (
        'γ of the polynomial and the RBF kernel, above 0. "scale": 1/(n_features · X.var()), of '
        'the first batch in partial_fit. "auto": 1/n_features.'
    ),
    "coef0": "The constant within the polynomial kernel.",
    "rule": (
        'How far to step. "perceptron": by eta0 on a mistake. "margin": also on rows that are '
        'right by no more than margin. "pa", "pa1", "pa2": passive-aggressively, without a limit, '
        "with steps limited to C, softened by C."
    ),
    "eta0": "Length of the perceptron's step, above 0. It only scales; no prediction changes.",
    "margin": 'Of the rule "margin": it steps up to this margin, at least 0.',
    "C": 'Limit on the steps of "pa1" and "pa2", above 0; infinity for none.',
    "memory": (
        'What predicts: the "last" vector, the "average" of all, or the "vote" of all, each for as '
        "long as it survived. It may be set after fit: all three come from one list of mistakes."
    ),
    "multi_class": (
        'More than two classes are learned by one machine, "joint": the true class gains what its '
        'best rival loses; or by one learner for each class against the rest, "one-vs-rest", as '
        "Freund & Schapire did. All share the kernel values."
    ),
    "fit_intercept": (
        "Learn a bias: the weight of a constant feature 1, so that 1 is added to the kernel."
    ),
    "max_support": (
        "Rows to keep at most; None for no limit. With it learning goes on for ever at the same "
        "cost, and what needs the vectors or rows of the past is not to be had: a vote never, an "
        "average with the Projectron only."
    ),
    "budget": (
        'How to keep to ``max_support``. "projectron", or None: project a row on those that are '
        "kept if it is within eta of their span, or if there is no room for another. Asked for by "
        'name it works without max_support too. "forgetron": shrink all coefficients a little and '
        'drop the oldest row. "random": drop a random row.'
    ),
    "eta": "Of the Projectron: how far from the span of the others a row is kept, at least 0.",
    "time_limit": "Seconds after which training ends, within a pass; None for no limit.",
    "cache_size": (
        "Megabytes of kernel values to hold at a time, above 0: those of a block under way, and "
        "those of rows that taught, for later passes. It changes the time, not the model."
    ),
    "warm_start": "Go on from the last fit in place of starting anew; its support stays.",
    "random_state": (
        "Seed of the shuffling and of the rows that a random budget drops: the same seed gives the "
        "same model. None: another one each time."
    ),
}

_SHARED = ("classes_", "n_features_in_", "feature_names_in_", "n_iter_", "converged_")

KERNEL_ATTRIBUTES = {
    "support_": (
        "Numbers of the rows that taught, in the order in which each first did; further calls of "
        "partial_fit count on."
    ),
    "support_vectors_": "Those rows; empty for a precomputed kernel.",
    "n_support_": "How many of them are of each class.",
    "dual_coef_": (
        "What multiplies K(row, ·) of each support row: (1, n_support) for two classes, else one "
        'line a class. Of the last or the average vector; a vote has none, so with memory="vote" '
        "the attribute is missing."
    ),
    **{name: ATTRIBUTES[name] for name in _SHARED},
    "n_mistakes_": 'Mistakes in all passes; with "one-vs-rest" those of all the learners.',
    "history_": ATTRIBUTES["history_"],
    "stop_reason_": '"converged", "max_iter", "time_limit" or "interrupted".',
}
