"""Answers with a guarantee, by rows that a model has not learned from; see ``tasks.certainty``."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.files import Files, Layout
from rosenblatt.errors import InputError, Sentence
from rosenblatt.models.model import Model
from rosenblatt.parameters import check_parameters
from rosenblatt.tasks import task_of_arrays
from rosenblatt.tasks.certainty import CONFIDENCE, Certainty, GuaranteeCurve
from rosenblatt.training.holdout import SHARE, row_draw

PREFIX = "guarantee."  # of the arrays of a model
NO_ROWS = "A guarantee needs rows with labels; none of these has one."


def set_measure(model: Model, scores: NDArray[Any]) -> NDArray[Any]:
    """Return by what labels get into sets, by the scores of rows."""
    fitted = None if model.calibration is None else model.probabilities_of
    return model.task.set_measure(scores, fitted)


def promised_sets(model: Model, scores: NDArray[Any], allowance: float) -> NDArray[np.bool_]:
    """Return which classes are in the set of each row, by the scores of a model."""
    return model.task.apart.sets(set_measure(model, scores), allowance)


def judged_apart(model: Model, batches: Iterable[Batch]) -> Certainty:
    """Return how sure a model is of labelled rows; those without a label are left out."""
    truths, parts = model.task.truths(model.classes), list[Certainty]()
    for batch in batches:
        judged = truths.judged(batch, model.scores(batch), model.answers)
        measure = set_measure(model, judged.scores)
        parts.append(model.task.certainty(judged.scores, judged.answers, judged.truth, measure))
    if not sum(len(part.lead) for part in parts):
        raise InputError(NO_ROWS)
    names = model.task.apart.names()
    sides = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
    return model.task.apart(*sides)


def guaranteed(
    model: Model,
    paths: Sequence[str],
    wanted: Any,
    layout: Layout,
    tell: Callable[[str], object] = lambda _: None,
) -> Model:
    """Return a model with a guarantee by files, or by a share of those that it learned from.

    What is odd about the rows is told, and kept with the notes of the training.
    """
    draw = row_draw(wanted, drawn=True)
    names = paths if draw is not None else [wanted] if isinstance(wanted, str) else wanted
    files, notes = Files(names, layout, draw=draw), list[str]()
    apart = judged_apart(model, model.rows(files, tell=notes.append))
    notes = [about_guarantee_rows(note) for note in notes]
    for note in notes:
        tell(note)
    return with_guarantee(model.with_facts({"notes": [*model.training["notes"], *notes]}), apart)


def about_guarantee_rows(note: str) -> str:
    """Return a note on rows as one on those of a guarantee."""
    return Sentence("Rows of the guarantee: ", note)


def with_guarantee(model: Model, apart: Certainty) -> Model:
    """Return a model that holds what a guarantee needs, until it learns on."""
    named = {f"{PREFIX}{name}": array for name, array in apart.arrays().items()}
    return model.with_facts({"guarantee_rows": len(apart.lead)}, arrays=model.arrays | named)


def guarantee_arrays(model: Model) -> dict[str, NDArray[Any]]:
    """Return the arrays that ``with_guarantee`` adds."""
    return {name: array for name, array in model.arrays.items() if name.startswith(PREFIX)}


def certainty_of(model: Model) -> Certainty | None:
    """Return what a model holds for a guarantee; None where it holds nothing."""
    given = {name[len(PREFIX) :]: array for name, array in guarantee_arrays(model).items()}
    if not given.keys() >= {"lead", "behind"}:
        return None
    try:
        return model.task.apart.stored(given)
    except ValueError:
        raise InputError("The rows of the model's guarantee are damaged: train it again.") from None


def says_how_sure(model: Model) -> bool:
    """Return whether a model can say how sure an answer is: by votes, or by rows apart."""
    return model.by_vote or certainty_of(model) is not None


@dataclass(frozen=True)
class Guarantee:
    """Answers of a classifier with at most a share of them wrong, where that can be promised."""

    estimator: Any
    apart: Certainty
    error: float
    confidence: float

    @cached_property
    def curve(self) -> GuaranteeCurve:
        """Arrays ``coverage``, ``error``, ``bound`` and ``threshold``, the surest rows first."""
        return self.apart.curve(self.confidence)

    @property
    def threshold(self) -> float:
        """The lead above which a row is answered: −∞ for all rows, ∞ for none."""
        return self.curve.threshold_for(self.error)

    @property
    def coverage(self) -> float:
        """Share of the rows that is answered."""
        place = self.curve.place(self.error)
        return 0.0 if place is None else float(self.curve.coverage[place])

    @property
    def bound(self) -> float | None:
        """What the error among answers exceeds with probability 1 − confidence; None: no answer."""
        place = self.curve.place(self.error)
        return None if place is None else float(self.curve.bound[place])

    def predict(self, X: Any, abstain: Any = None) -> NDArray[Any]:
        """Return the label of each row that can be answered, and ``abstain`` for the others.

        With None, or with a value of another kind than the labels, the array is of type object.
        Where rows may have several labels, it is an indicator of those that can be given, and a row
        without any is one that is not answered.
        """
        answers, scores = self.estimator.predict(X), _scores(self.estimator, X)
        return self.apart.answered(answers, scores, self.threshold, abstain)

    def predict_sets(self, X: Any, error: float | None = None) -> list[list[Any]]:
        """Return labels for each row, the predicted one among them, that miss the true one rarely.

        In at most the share ``error`` of rows like those of the guarantee, over all rows; by
        default the error of the guarantee. Where rows may have several labels, sets miss one of
        them so rarely.
        """
        wanted = self.error if error is None else error
        check_parameters("predict_sets", {"error": wanted}, {"error": SHARE})
        measure = _measure(self.estimator, _scores(self.estimator, X))
        members = self.apart.sets(measure, self.apart.allowance(wanted))
        return [self.estimator.classes_[row].tolist() for row in members]


def guarantee(
    estimator: Any, X: Any, y: Any, *, error: float = 0.02, confidence: float = CONFIDENCE
) -> Guarantee:
    """Return answers of a fitted classifier of which at most the share ``error`` is wrong.

    The rows ``X`` with the labels ``y`` must be drawn like those to be answered, and nothing may
    have been learned or chosen by them. A row is answered where the score of the predicted class
    leads that of the second by more than a threshold, the lowest for which the rows show that the
    error is at most ``error``. The rows show it wrongly with probability 1 − ``confidence`` at
    most, by the exact binomial bound, for all errors that you may ask for together. Where rows may
    have several labels, those predicted are given that score above the threshold, and an answer is
    wrong if one of them is.

    Parameters
    ----------
    estimator : fitted classifier or pipeline with ``decision_function`` and ``classes_``
    X, y : rows and labels that were not learned from
        Some hundred at least: 2 % takes 297 answers without a mistake. Several labels a row are an
        indicator, or for each row a collection of labels.
    error : number between 0 and 1
        Share of the answers that may be wrong.
    confidence : number between 0 and 1
        How surely it is not more.

    Returns
    -------
    Guarantee
        With ``predict``, ``predict_sets``, ``threshold``, ``coverage`` (the share answered),
        ``bound`` and ``curve``.

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt import AveragedPerceptron, guarantee
    >>> X = np.random.default_rng(0).normal(size=(3000, 2))
    >>> y = np.where(X.sum(axis=1) + X[:, 0] * X[:, 1] / 2 > 0, "yes", "no")
    >>> clf = AveragedPerceptron().fit(X[:1000], y[:1000])
    >>> sure = guarantee(clf, X[1000:], y[1000:], error=0.02)
    >>> sure.predict([[2, 1], [0.1, -0.1]], abstain="?")
    array(['yes', '?'], dtype='<U3')
    >>> sure.predict_sets([[2, 1], [0.1, -0.1]], error=0.01)
    [['yes'], ['no', 'yes']]
    >>> f"{sure.coverage:.0%} answered, {sure.bound:.1%} wrong at most"
    '70% answered, 1.7% wrong at most'
    """
    given = {"error": error, "confidence": confidence}
    check_parameters("guarantee", given, dict.fromkeys(given, SHARE))
    return Guarantee(estimator, _judged(estimator, X, y), error, confidence)


def _judged(estimator: Any, X: Any, y: Any) -> Certainty:
    """Return how sure a classifier is of rows with these labels."""
    if not (y.shape[0] if hasattr(y, "shape") else len(y)):
        raise InputError(NO_ROWS)
    scores, guess = _scores(estimator, X), estimator.predict(X)
    classes = np.asarray(estimator.classes_)
    task = task_of_arrays(guess, len(classes))
    answers, truth = task.of_arrays(guess, y, classes)
    return task.certainty(scores, answers, truth, _measure(estimator, scores))


def _scores(estimator: Any, X: Any) -> NDArray[Any]:
    if not hasattr(estimator, "decision_function"):
        raise InputError(
            "A guarantee needs a fitted classifier with decision_function; got a "
            f"{type(estimator).__name__}."
        )
    return np.asarray(estimator.decision_function(X))


def _measure(estimator: Any, scores: NDArray[Any]) -> NDArray[Any]:
    """Return by what labels get into sets, for any classifier."""
    model = getattr(estimator, "model_", None)
    return set_measure(model, scores) if isinstance(model, Model) else scores
