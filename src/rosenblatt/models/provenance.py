"""Which training rows taught a model a decision, from the list of its mistakes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import as_rows
from rosenblatt.mistakes.arrays import PREFIX
from rosenblatt.mistakes.provenance import Provenance, provenance_of
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.models.explanation import decision
from rosenblatt.models.model import Model, model_of
from rosenblatt.models.rows import input_rows
from rosenblatt.models.scoring import votes_of


def why(fitted: Any, X: Any, x: Any) -> Provenance:
    """Return which rows of X, the training rows, decide the row x, and how much each.

    A perceptron is the list of its mistakes: its activation on x is the sum of τᵢ·yᵢ·⟨xᵢ, x⟩ over
    them. It must have been trained from zero with ``record_mistakes=True``.

    Parameters
    ----------
    fitted : fitted Perceptron, AveragedPerceptron, PassiveAggressiveClassifier, VotedPerceptron
        Or a ``Model``. Where vectors vote, their average is explained: a vote is no sum of terms.
    X : array or CSR matrix
        The rows that it was fitted on, in their order. None for a ``Model``, which keeps them.
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
    from scipy import sparse

    model = model_of(fitted)
    row = input_rows(model, x)
    scores, winner = decision(model, row)
    decided = model, row.indices, row.data, scores[0], winner
    if isinstance(fitted, Model):
        return recorded_provenance(*decided)
    mistakes = getattr(fitted, "mistakes_", None)
    if mistakes is None:
        raise InputError(
            f"This {type(fitted).__name__} does not know its mistakes: fit it, from zero, with "
            "record_mistakes=True."
        )
    rows = as_rows(sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X), model.constant)
    last = int(mistakes.updates.row.max(initial=-1))
    if last >= rows.shape[0]:
        raise InputError(
            f"X has {rows.shape[0]} rows, but row {last} taught the estimator: give the rows that "
            "it was fitted on."
        )
    return recorded_provenance(*decided, mistakes, rows)


def recorded_provenance(
    model: Model,
    indices: NDArray[Any],
    values: NDArray[Any],
    scores: NDArray[Any],
    winner: int,
    mistakes: Mistakes | None = None,
    rows: Rows | None = None,
) -> Provenance:
    """Return which training rows decide a row of these features, by their numbers in training."""
    if mistakes is None and not is_recorded(model):
        raise InputError(
            "The model does not hold its mistakes: train it with "
            f"{Parameter('record_mistakes', value=True)}."
        )
    known = indices < model.n_features
    x = np.zeros(model.n_features)
    x[indices[known]] = values[known]
    return provenance_of(
        mistakes or votes_of(model),
        rows,
        x,
        model.classes,
        averaged=model.ledger is not None,
        end=model.count,
        activation=scores,
        winner=winner,
    )


def is_recorded(model: Model) -> bool:
    """Return whether a model holds its mistakes."""
    return f"{PREFIX}row" in model.arrays
