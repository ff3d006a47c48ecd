"""The scores of rows by a model, and the classes that they predict."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.errors import InputError, WeightOverflowError, score_overflow
from rosenblatt.kernels.binary import activations
from rosenblatt.kernels.finite import first_not_finite
from rosenblatt.kernels.multiclass import class_scores
from rosenblatt.kernels.rows import CSR, Rows
from rosenblatt.mistakes.arrays import read_list
from rosenblatt.mistakes.scores import vote_counter, vote_margins, vote_scores
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.training.examples import winners
from rosenblatt.training.state import State

if TYPE_CHECKING:
    from collections.abc import Callable

    from rosenblatt.models.model import Model


class Scorer:
    """Scores rows by the weights of a model, or by its kernel machine.

    The scores of a voted perceptron are shares of votes, or with ``by_weights`` those of the
    average of its vectors.
    """

    def __init__(self, model: "Model", *, by_weights: bool = False) -> None:
        self.voted = model.voted and not by_weights
        self._counter: Callable[[Rows], NDArray[Any]] | None = None
        if self.voted:
            shape = len(model.classes), model.count
            self._counter = vote_counter(votes_of(model), *shape, positive=model.positive)
        by_kernel = model.is_kernel and not by_weights
        self._by_kernel = _kernel_scores(model) if by_kernel else None
        weights = model.weights if by_kernel else model.deciding_weights
        self._binary = len(model.classes) == 2 and not model.several
        self._weights = weights[0] if self._binary else np.ascontiguousarray(weights.T)
        self._n_features = model.n_features
        self._constant = model.constant
        self._positive = model.positive

    def scores(self, batch: Batch) -> NDArray[Any]:
        """Return the activation of each row: (n,) for two classes, else (n, K).

        Features that the model has not met have no weight and count for nothing.
        """
        known = batch.below(self._n_features)
        if self._counter is not None:
            try:
                return vote_scores(self._counter(known.csr(self._n_features, self._constant)))
            except WeightOverflowError as error:
                msg = f"{batch.file}, from line {batch.first_line} on: {error}"
                raise WeightOverflowError(msg) from error
        if self._by_kernel is not None:
            scores = self._by_kernel(known.csr(self._n_features, self._constant))
        else:
            scores = np.empty((batch.n_rows, *self._weights.shape[1:]))
            rows = known.csr(self._n_features, 1.0)
            (activations if self._binary else class_scores)(rows, self._weights, scores)
        if not np.isfinite(scores).all():
            row = int(np.flatnonzero(~np.isfinite(scores).reshape(batch.n_rows, -1).all(axis=1))[0])
            raise WeightOverflowError(
                f"{batch.file}: the activation of row {row + 1} from line {batch.first_line} on "
                "overflowed: its values are too large."
            )
        return scores

    def margins(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return how clear the vote on each row is, from 0 to 1; for scores by vote."""
        return vote_margins(scores)

    def numbers(self, scores: NDArray[Any]) -> NDArray[np.intp]:
        """Return the number of the class that each score predicts."""
        return winners(scores, positive=self._positive)


def _kernel_scores(model: "Model") -> "Callable[[CSR], NDArray[Any]]":
    from rosenblatt.models.kernel_machine import machine_scores, stored_machine

    parameters = SimpleNamespace(**model.usable_options())
    if parameters.kernel == "precomputed":
        raise InputError(
            'The model was trained with kernel="precomputed", on kernel values that were computed '
            "elsewhere: load it in Python with rosenblatt.load to predict from such values."
        )
    machine, memory = stored_machine(model, parameters), parameters.memory
    return lambda rows: machine_scores(machine, parameters, rows, (memory,))[memory]


def linear_scores(state: State, rows: Rows) -> NDArray[Any]:
    """Return the activation of each row, (n,) for two classes, else (n, classes)."""
    scores = state.activations(rows, state.average())
    bad = first_not_finite(scores)
    if bad >= 0:
        row = bad // scores.shape[-1] if scores.ndim == 2 else bad
        raise score_overflow(row)
    return scores


def above(scores: NDArray[Any], thresholds: NDArray[Any], *, positive: bool) -> NDArray[np.bool_]:
    """Return which row has which label: where its score is above the threshold of the label."""
    return np.asarray(scores >= thresholds if positive else scores > thresholds)


def label_sets(labels: NDArray[Any], given: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the labels of each row as a tuple, by which row has which."""
    found = np.empty(len(given), object)
    found[:] = [tuple(labels[row].tolist()) for row in given]
    return found


def n_voting(model: "Model") -> int | None:
    """Return how many weight vectors of a model vote; None where one alone decides."""
    return votes_of(model).n_vectors if model.voted else None


def votes_of(model: "Model") -> Mistakes:
    """Return the updates that a model holds, with the rows that made them, checked."""
    if model.mistakes is not None:
        return model.mistakes
    shape = len(model.classes), model.n_features, model.constant
    return read_list(model.arrays, *shape, model.count)
