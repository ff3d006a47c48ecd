"""Which training rows taught a fitted estimator a decision."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rosenblatt.errors import InputError
from rosenblatt.estimators.base import OnlineClassifier
from rosenblatt.estimators.validation import check_rows
from rosenblatt.mistakes.provenance import Provenance, provenance_of
from rosenblatt.models.scoring import linear_scores


def why(estimator: OnlineClassifier, X: Any, x: Any) -> Provenance:
    """Return which rows of X, the training rows, decide the row x, and how much each.

    A perceptron is the list of its mistakes: its activation on x is the sum of τᵢ·yᵢ·⟨xᵢ, x⟩ over
    them. The estimator must have been fitted from zero with ``record_mistakes=True``.

    Parameters
    ----------
    estimator : fitted Perceptron, AveragedPerceptron, PassiveAggressiveClassifier, VotedPerceptron
        The last is explained by the average of its vectors: a vote is no sum of terms.
    X : array or CSR matrix
        The rows that it was fitted on, in their order.
    x : array of shape (n_features,)
        The row to be explained.

    Examples
    --------
    >>> from rosenblatt import Perceptron, why
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]
    >>> clf = Perceptron(shuffle=False, record_mistakes=True).fit(X, y)
    >>> print(why(clf, X, [1, 1]).total)
    1.0
    """
    check_is_fitted(estimator)
    if not hasattr(estimator, "mistakes_"):
        msg = (
            f"This {type(estimator).__name__} does not know its mistakes: fit it, from zero, with "
            "record_mistakes=True."
        )
        raise InputError(msg)
    rows, _ = check_rows(estimator, X, reset=False)
    updates = estimator.mistakes_.updates.row
    if len(updates) and int(updates.max()) >= rows.shape[0]:
        msg = (
            f"X has {rows.shape[0]} rows, but row {int(updates.max())} taught the estimator: give "
            "the rows that it was fitted on."
        )
        raise InputError(msg)
    one = np.asarray(x, float).reshape(1, -1)
    state = estimator._state  # noqa: SLF001  # ours
    scores = linear_scores(state, check_rows(estimator, one, reset=False)[0])[0]
    return provenance_of(
        estimator.mistakes_,
        rows,
        one[0],
        estimator.classes_.tolist(),
        averaged=state.ledger is not None,
        end=state.count,
        activation=scores,
    )
