"""Which features decide, by name, and which training rows taught it, from the list of mistakes."""

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding import GridEncoding
from rosenblatt.data.labels import Classes
from rosenblatt.data.tables.table import found_name
from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import as_rows
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.models.merging import merged_row, with_lines
from rosenblatt.models.model import Model, model_of
from rosenblatt.models.multilabel import alone
from rosenblatt.models.rows import input_rows
from rosenblatt.tasks.labels_met import one_label_error
from rosenblatt.tasks.leads import winners
from rosenblatt.wording import counted, number, signed, word_list

if TYPE_CHECKING:
    from rosenblatt.mistakes.provenance import Provenance

Label = int | float | str | bool

# Weights mislead as a ranking where one feature counts millimetres and another kilometres. The
# rule: among the features with a weight and a deviation, the deviation at the 90th percentile is
# more than ten times the one at the 10th.
MISLEADING_RATIO = 10.0
SHOWN = 12  # terms of an explanation in a notebook


class RankedWeight(NamedTuple):
    """A feature's weight, and weight × deviation: its weight if all features varied alike."""

    feature: int  # its number, from 0
    name: str
    weight: float
    effect: float | None  # None where the model does not know the deviations
    uncertainty: float | None = None  # of the weight, 1 at first; second-order rules know it


class Ranking(NamedTuple):
    """The weights of one vector that say most."""

    label: Label  # the class that positive weights speak for
    against: Label | None  # the one that negative weights speak for, where there are two
    bias: float
    n_nonzero: int  # weights, without the bias
    top: list[RankedWeight]  # positive ones, largest first
    bottom: list[RankedWeight]  # negative ones, most negative first


class Contribution(NamedTuple):
    """One term of a score."""

    feature: int  # its number, from 0
    name: str
    value: float
    weight: float
    amount: float  # weight × value
    raw: float | None = None  # the number in the file, where it was scaled
    uncertainty: float | None = None  # of the weight, 1 at first; second-order rules know it


class Explanation(NamedTuple):
    """The terms that decided one row.

    Two classes: the terms of the score. More: those of the lead, the winner's score less the
    runner-up's. Where a row may have several labels: those of the score of one. ``total`` is the
    sum of bias and terms rounded once (math.fsum), so that a score as predicted may differ from it
    in the last digits.
    """

    positive: Label
    negative: Label | None  # None where there is no rival
    total: float
    bias: float
    terms: list[Contribution]  # other than 0, largest first, whatever the sign
    n_silent: int  # features of the row whose weight is 0
    n_unknown: int  # features of the row that the model has never met

    def _repr_html_(self) -> str:
        cells = [
            (term.name, number(term.value), signed(term.weight), signed(term.amount))
            for term in self.terms[:SHOWN]
        ]
        rest = self.terms[SHOWN:]
        if rest:
            amount = math.fsum(term.amount for term in rest)
            cells.append((counted(len(rest), "other feature"), "", "", signed(amount)))
        cells += [("bias", "", "", signed(self.bias)), ("sum", "", "", signed(self.total))]
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in cells
        )
        against = "" if self.negative is None else f", negative ones for {self.negative}"
        said = escape(f"Positive terms speak for {self.positive}{against}")
        head = "".join(f"<th>{name}</th>" for name in ("feature", "value", "weight", "product"))
        return f"<table><caption>{said}</caption><tr>{head}</tr>{rows}</table>"


def term_text(model: Model, term: Contribution) -> str:
    """Return the name of a term with its value in the file, unless the name says it."""
    table, cell = model.table, isinstance(model.encoder, GridEncoding)
    if table is not None and ((cell and term.value == 1.0) or table.says_value(term.feature)):
        return term.name
    value = number(term.value if term.raw is None else term.raw)
    return f"{term.name} = {value.replace('-', '−')}"


def explain(
    fitted: Any, x: Any, label: Label | None = None, against: Label | None = None
) -> Explanation:
    """Return what each feature of a row adds to the decision on it; see ``rosenblatt.explain``."""
    model = model_of(fitted)
    if against is not None:
        model.task.check_rival()
    reads_label = label is None and against is None and model.task.contrasts
    row = input_rows(model, x, Classes(model.classes) if reads_label else None)
    if row.n_rows != 1:
        raise InputError(f"explain takes one row; got {row.n_rows}.")
    _, winner = decision(model, row)
    winner = winner if label is None else explained_number(model, str(label))
    own = int(row.labels[0]) if against is None else class_number(model, str(against))
    rival = None if label is not None and against is None else rival_of(model, own, winner)
    return contributions(model, row.indices, row.data, winner=winner, rival=rival)


def rival_of(model: Model, label: int, winner: int) -> int | None:
    """Return the class that a winner is set against: that of a row's label where it is wrong.

    None: the runner-up.
    """
    wrong = 0 <= label < len(model.classes) and label != winner
    return label if wrong and model.task.contrasts else None


def decision(model: Model, row: Batch) -> tuple[NDArray[Any], int]:
    """Return the scores of a batch of one row and the number of its class, as predict has them.

    The features of the row are all that the scorer gets, so that a model of millions is not copied.
    """
    known = row.indices < model.n_features
    data, n = row.data[known], int(np.count_nonzero(known))
    places = np.arange(n, dtype=np.int32)
    narrow = row._replace(data=data, indices=places, indptr=np.array([0, n]), n_features=n)
    state = model.state.select(row.indices[known])
    scores = state.scores(narrow.csr(n, model.constant))
    return scores, int(winners(scores, positive=model.positive)[0])


def decision_report(
    model: Model, row: Batch, scores: NDArray[Any], winner: int, explained: int
) -> dict[str, Any]:
    """Return what is predicted of a row and by which scores, as what JSON can hold.

    ``scores`` and ``winner`` are those of ``decision``. Where vectors vote, their votes decide, and
    the average, which is explained, may predict otherwise.
    """
    votes = model.scores(row) if model.by_vote else None
    deciding = scores if votes is None else votes
    (predicted,) = model.task.values(model.answers(deciding), model.classes)
    told = {"predicted": predicted} | model.task.explained(model.thresholds, explained)
    labels = [str(label) for label in model.classes]
    if deciding.ndim > 1:
        told["scores"] = dict(zip(labels, deciding[0], strict=True))
    else:
        told["score"] = deciding[0]
    if model.has_probabilities:
        shares = model.probabilities_of(deciding)[0]
        told["probabilities"] = dict(zip(labels, shares, strict=True))
    return told | model.linear.decided(deciding, model.classes[winner])


def deciding_terms(
    model: Model, indices: NDArray[Any], values: NDArray[Any], **sides: int
) -> Explanation | None:
    """Return ``contributions``; None where vectors vote, which is no sum of terms."""
    return None if model.by_vote else contributions(model, indices, values, **sides)


def reasons(
    model: Model, row: Batch, scores: NDArray[Any], winner: int, rival: int
) -> tuple[Explanation | None, "Provenance | None"]:
    """Return the terms that decided a row, and the training rows behind them if it knows them."""
    terms = deciding_terms(model, row.indices, row.data, winner=winner, rival=rival)
    if terms is None or model.mistakes is None:
        return terms, None
    return terms, recorded_provenance(model, row.indices, row.data, scores, (winner, rival))


def namer(model: Model) -> Callable[[int], str]:
    """Return what names a feature: given names, else those of the encoding, else its number."""
    names = model.feature_names
    if names is not None:
        return lambda index: names[index]
    if model.encoder is not None:
        return model.encoder.name
    return lambda index: f"feature {index}"


def class_number(model: Model, text: str) -> int:
    """Return the number of the class or label that is written so."""
    written = [str(label) for label in model.classes]
    text = found_name(text, written) or text
    if text not in written:
        known = word_list(written)
        raise InputError(f"The model knows no {model.task.noun} {text!r}; it knows {known}.")
    return written.index(text)


def of_one_class(model: Model, text: str | None, name: str) -> Model:
    """Return a model, or that of the label written so where each is a problem of its own."""
    if model.task.contrasts:
        return model
    if text is None:
        raise one_label_error(f"{name} gives a row")
    return alone(model, class_number(model, text))


def explained_number(model: Model, text: str) -> int:
    """Return the number of the class or label whose score is to be explained, written so."""
    if model.task.flat:
        raise InputError("Two classes share one score, which explains both: name no class.")
    return class_number(model, text)


def deciding_vectors(model: Model) -> Iterator[NDArray[Any]]:
    """Yield the weights that predict, vector by vector, so that one more at a time is in memory."""
    last, ledger, count = model.weights, model.ledger, model.count
    for k, weights in enumerate(last):
        yield weights if ledger is None else weights - ledger[k] / count


def ranking_misleads(model: Model) -> bool:
    """Return whether features have so different ranges that their weights cannot be compared.

    Ranges, not deviations: a rare word deviates less than a common one, yet both are there or not.
    """
    if model.spread is None:
        return False
    ranges = np.asarray(model.spread.high) - np.asarray(model.spread.low)
    used = np.zeros(model.n_features, bool)
    for w in deciding_vectors(model):
        used |= w[:-1] != 0
    of_used = ranges[used & (ranges > 0)]
    if len(of_used) < 2:
        return False
    low, high = np.quantile(of_used, [0.1, 0.9], method="inverted_cdf")
    return bool(high > MISLEADING_RATIO * low)


def ranked_weights(
    model: Model, k: int = 10, class_: int | None = None, *, by_effect: bool | None = None
) -> list[Ranking]:
    """Return the k most positive and the k most negative weights of each vector.

    ``class_``, a number, turns the signs of two classes, and of more chooses the vector.
    ``by_effect`` ranks by weight × deviation; by default where ``ranking_misleads``.
    """
    model = model.merged
    if by_effect is None:
        by_effect = ranking_misleads(model)
    name, deviation = namer(model), None if model.spread is None else model.spread.deviation

    def ranking(label: Label, against: Label | None, vector: NDArray[Any]) -> Ranking:
        w, unsure = vector[:-1], uncertainties(model, label)
        effects = None if deviation is None else w * deviation
        key = effects if by_effect and effects is not None else w
        top, bottom = (
            [
                RankedWeight(
                    i,
                    name(i),
                    float(w[i]),
                    None if effects is None else float(effects[i]),
                    None if unsure is None else float(unsure[i]),
                )
                for i in _largest(sign * key, k).tolist()
            ]
            for sign in (1.0, -1.0)
        )
        return Ranking(label, against, float(vector[-1]), int(np.count_nonzero(w)), top, bottom)

    return [ranking(*side) for side in _sides(model, class_)]


def uncertainties(model: Model, label: Label) -> NDArray[Any] | None:
    """Return the standard deviation of each weight of a class; None where no rule kept it."""
    variance = model.variance
    if variance is None:
        return None
    number = 0 if len(model.weights) == 1 else model.classes.index(label)
    return np.asarray(np.sqrt(variance[number]))


def all_weights(
    model: Model, class_: int | None = None
) -> Iterator[tuple[Label, int | None, str, float]]:
    """Yield class, feature number, name and weight of every weight other than 0, each bias last."""
    model = model.merged
    name = namer(model)
    for label, _, vector in _sides(model, class_):
        for feature in np.flatnonzero(vector[:-1]).tolist():
            yield label, feature, name(feature), float(vector[feature])
        yield label, None, "bias", float(vector[-1])


def contributions(
    model: Model,
    indices: NDArray[Any],
    values: NDArray[Any],
    *,
    winner: int | None = None,
    rival: int | None = None,
) -> Explanation:
    """Return the terms that decided the row with these values of these features.

    ``winner`` is the class number that was predicted, and ``rival`` the one that it is compared
    with where there are more than two; by default the sums decide, and it is the runner-up. A label
    of several is compared with none.
    """
    known = indices < model.n_features
    n_unknown = int(np.count_nonzero(~known))
    model, at, x = merged_row(model, indices[known], np.asarray(values[known], np.float64))
    state = model.state.select(at)
    w = state.by_class(state.average())
    sums = [math.fsum(terms) for terms in w * np.append(x, 1.0)]
    number, against = model.task.sides(sums, winner, rival)
    w = w[0] if model.task.flat else w[number] if against is None else w[number] - w[against]
    sides = [k for k in (number, against) if k is not None][: len(model.weights)]
    pair = [uncertainties(model, model.classes[k]) for k in sides]
    squares = [one[at] ** 2 for one in pair if one is not None]
    unsure = np.sqrt(np.sum(squares, axis=0)) if squares else None
    at, x, w, unsure = with_lines(model, at, x, w, unsure)
    amounts = w[:-1] * x
    name = namer(model)
    order = np.argsort(-np.abs(amounts), kind="stable")
    table = model.table
    terms = [
        Contribution(
            feature,
            name(feature),
            float(x[i]),
            float(w[i]),
            float(amounts[i]),
            None if table is None else table.unscaled(feature, float(x[i])),
            None if unsure is None else float(unsure[i]),
        )
        for i, feature in ((i, int(at[i])) for i in order[: np.count_nonzero(amounts)])
    ]
    return Explanation(
        positive=model.classes[number],
        negative=None if against is None else model.classes[against],
        total=math.fsum([*amounts, w[-1]]),
        bias=float(w[-1]),
        terms=terms,
        n_silent=len(at) - len(terms),
        n_unknown=n_unknown,
    )


def _sides(model: Model, class_: int | None) -> Iterator[tuple[Label, Label | None, NDArray[Any]]]:
    """Yield the class that positive weights speak for, that of negative ones, and the weights."""
    for k, vector in enumerate(deciding_vectors(model)):
        if model.task.flat:
            turned = class_ == 0
            label, against = model.classes[not turned], model.classes[turned]
            yield label, against, -vector if turned else vector
        elif class_ in (None, k):
            yield model.classes[k], None, vector


def _largest(values: NDArray[Any], k: int) -> NDArray[Any]:
    """Return where the k largest positive values stand, the first of equal ones first."""
    positive = np.flatnonzero(values > 0)
    if k < len(positive):
        of_positive = values[positive]
        least = np.partition(of_positive, len(positive) - k)[len(positive) - k] if k else np.inf
        above = positive[of_positive > least]
        positive = np.append(above, positive[of_positive == least][: k - len(above)])
    return positive[np.argsort(-values[positive], kind="stable")]


def why(fitted: Any, X: Any, x: Any, label: Label | None = None) -> "Provenance":
    """Return which rows of X, the training rows, decide the row x, and how much each.

    A perceptron is the list of its mistakes: its activation on x is the sum of τᵢ·yᵢ·⟨xᵢ, x⟩ over
    them. It must have been trained from zero with ``record_mistakes=True``.

    Parameters
    ----------
    fitted : fitted estimator of a rule whose weights are sums of mistakes
        Or a ``Model``. Where vectors vote, their average is explained: a vote is no sum of terms.
    X : array or CSR matrix
        The rows that it was fitted on, in their order. None for a ``Model``, which keeps them, and
        for what ``train_files`` returns.
    x : array of shape (n_features,)
        The row to be explained.
    label : class or label, default None
        The class or label whose lead or score is explained; see ``explain``.

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
    winner = winner if label is None else explained_number(model, str(label))
    decided = model, row.indices, row.data, scores[0], (winner,)
    if isinstance(fitted, Model) or (X is None and model.mistakes is not None):
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
    sides: Sequence[int],
    mistakes: Mistakes | None = None,
    rows: Rows | None = None,
) -> "Provenance":
    """Return which training rows decide a row of these features, by their numbers in training.

    ``sides`` are the numbers of the class whose lead is explained and of the one that it is set
    against, by default the runner-up; or that of the label whose score is explained.
    """
    mistakes = model.mistakes if mistakes is None else mistakes
    if mistakes is None:
        raise InputError(
            "The model does not hold its mistakes: train it with "
            f"{Parameter('record_mistakes', value=True)}."
        )
    from rosenblatt.mistakes.provenance import provenance_of

    known = indices < model.n_features
    x = np.zeros(model.n_features)
    x[indices[known]] = values[known]
    return provenance_of(
        mistakes,
        rows,
        x,
        model.classes,
        averaged=model.ledger is not None,
        end=model.count,
        activation=scores,
        **{"sides": sides} if model.task.contrasts else {"label": sides[0]},
    )
