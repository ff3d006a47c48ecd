"""diagnose: is there a boundary, how wide is its margin, and how is that certain."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import inf
from time import perf_counter
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.estimators.encoders import TableEncoder, encoded_words
from rosenblatt.theory.capacity import capacity_notes
from rosenblatt.theory.certificate import (
    Certificate,
    MachineCertificate,
    Proof,
    certificate_of,
    conflict_certificate,
)
from rosenblatt.theory.deadline import Deadline, OutOfTimeError
from rosenblatt.theory.exact import root_bounds, rounded_up
from rosenblatt.theory.inequalities import Inequalities
from rosenblatt.theory.labelled_rows import LabelledRows, check_labelled_rows, find_conflicts
from rosenblatt.theory.search import PerceptronRun, decide, is_uneven, is_witness, run_perceptron
from rosenblatt.theory.separation import not_separated, separated
from rosenblatt.theory.verdict import PairVerdict, Status, Verdict
from rosenblatt.theory.widest_margin import MarginInterval, measure, squared_radius

MOST_SHARES = 8  # of the time of all pairs, for the next one: less would not be enough for any


def diagnose(
    X: Any,
    y: Any,
    *,
    model: Any = None,
    mistakes: int | None = None,
    time_limit: float | None = 60.0,
    permute: int = 0,
    feature_names: Sequence[str] | None = None,
) -> Verdict:
    """Say whether a linear boundary separates the classes, with a proof either way.

    Parameters
    ----------
    X : array, CSR matrix or data frame of shape (n_rows, n_features)
        It may have no features at all. Of a frame with words each category is a feature.
    y : array of shape (n_rows,)
        Labels, two classes or more; of two the second in sorted order is the positive one.
    model : fitted estimator, default None
        Its ``n_mistakes_`` is reported beside the bound.
    mistakes : int, default None
        The same as a number; with neither, those of the search's first perceptron if it converged.
    time_limit : float, default 60.0
        Seconds after which no further step begins; None for no limit.
    permute : int, default 0
        How often to permute the labels at random and ask again, in as much time again: how many
        permutations are separable says what the verdict is worth.
    feature_names : names of the features, default None
        By which coefficients without a finite estimate are named; by default those of a data frame,
        else "feature 0" and so on.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> from rosenblatt.theory.diagnosis import diagnose
    >>> print(diagnose([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]))
        verdict  inseparable (4 rows, 2 features, 2 classes)
    certificate  1: 1/2 × row 1 + 1/2 × row 2
                 0: 1/2 × row 0 + 1/2 × row 3
                 the points are equal in exact rational arithmetic
       logistic  overlap: every boundary has a row on the wrong side: all estimates are finite
    """
    started = perf_counter()
    X, encoder = encoded_words(X, scale=False, missing="error", sparse_output=False)
    rows = check_labelled_rows(X, y)
    names = _names(X if encoder is None else encoder, rows, feature_names)
    if mistakes is None and model is not None:
        if not hasattr(model, "n_mistakes_"):
            msg = f"model must be a fitted estimator of rosenblatt; got {type(model).__name__}."
            raise InputError(msg)
        mistakes = int(model.n_mistakes_)
    with np.errstate(all="ignore"):  # what overflows proves nothing, and is then not taken
        verdict = examine(rows, mistakes, Deadline(time_limit), names)
        if permute:
            verdict = replace(verdict, permuted=permuted(rows, permute, Deadline(time_limit)))
    return replace(verdict, seconds=perf_counter() - started)


def _names(X: Any, rows: LabelledRows, given: Sequence[str] | None) -> list[str]:
    """Return the names of the features: as passed, of X, or numbered."""
    known = (
        X.get_feature_names_out() if isinstance(X, TableEncoder) else getattr(X, "columns", None)
    )
    names = known if given is None else given
    if names is None:
        return [f"feature {j}" for j in range(rows.n_features)]
    if len(names) != rows.n_features:
        raise InputError(f"feature_names has {len(names)} names for {rows.n_features} features.")
    return [str(name) for name in names]


def examine(
    rows: LabelledRows,
    mistakes: int | None,
    deadline: Deadline,
    names: Sequence[str] | None = None,
) -> Verdict:
    """Return the verdict on checked rows; features without names are numbered."""
    names = _names(None, rows, names)
    system = Inequalities(rows)
    square = squared_radius(rows)
    verdict = Verdict(
        status="undecided",
        classes=tuple(rows.classes.tolist()),
        n_rows=rows.n_rows,
        n_features=rows.n_features,
        radius=root_bounds(square)[1],
        margin_high=inf,
        augmented_high=inf,
        mistakes=mistakes,
        conflicts=tuple(find_conflicts(rows)),
    )
    run, proof = (None, Proof()) if verdict.conflicts else _first_proof(system, deadline)
    if system.n_classes > 2:
        verdict = replace(
            verdict, pairs=examine_pairs(system, run, proof.v, verdict.conflicts, deadline.share(3))
        )
    of_pairs = (pair.certificate for pair in verdict.pairs if pair.certificate is not None)
    certificate: Certificate | MachineCertificate | None
    certificate = conflict_certificate(rows, verdict.conflicts) or next(of_pairs, None)
    if certificate is None and proof.v is None:
        proof = decide(system, run, deadline)
        certificate = certificate_of(system, proof)
    if certificate is not None and certificate.holds_for(rows):
        return replace(
            verdict,
            status="inseparable",
            certificate=certificate,
            margin_high=-inf,
            augmented_high=-inf,
            estimates=not_separated(rows, certificate, names, deadline),
        )
    if proof.v is None:
        hint = Sentence(
            f"to decide it, raise {Parameter('time_limit')}, or give fewer rows or shorter numbers"
        )
        return replace(verdict, notes=(*proof.notes, hint))
    if mistakes is None and run is not None and run.converged:
        verdict = replace(verdict, mistakes=run.mistakes)
    found = _measured(system, proof.v, verdict, square, deadline)
    w: Any = found.w
    v = np.column_stack([np.atleast_2d(w), np.atleast_1d(found.b)]).ravel()
    return replace(
        found,
        notes=(*found.notes, *capacity_notes(rows)),
        estimates=separated(rows, v, names, deadline),
    )


def permuted(rows: LabelledRows, n: int, deadline: Deadline) -> dict[str, int]:
    """Return how many of n random permutations of the labels have which status."""
    if n < 0:
        raise InputError(f"permute must be at least 0; got {n}.")
    generator = np.random.default_rng(0)
    counts = dict.fromkeys(get_args(Status), 0)
    for k in range(n):
        other = replace(rows, numbers=generator.permutation(rows.numbers))
        counts[_status(other, deadline.share(n - k))] += 1
    return counts


def _status(rows: LabelledRows, deadline: Deadline) -> Status:
    """Return whether the classes are separable, by a proof, and measure nothing."""
    if find_conflicts(rows):
        return "inseparable"
    system = Inequalities(rows)
    proof = _proof(system, deadline)
    if proof.v is not None:
        return "separable"
    certificate = certificate_of(system, proof)
    return "undecided" if certificate is None or not certificate.holds_for(rows) else "inseparable"


def _proof(system: Inequalities, deadline: Deadline) -> Proof:
    """Let the perceptron try, then the search that decides."""
    run, proof = _first_proof(system, deadline)
    return decide(system, run, deadline) if proof.v is None else proof


def examine_pairs(
    system: Inequalities,
    run: PerceptronRun | None,
    v: NDArray[Any] | None,
    conflicts: Sequence[tuple[int, ...]],
    deadline: Deadline,
) -> tuple[PairVerdict, ...]:
    """Return the verdict on every two classes; a witness v of the whole serves each of them.

    Those that the perceptron confused most come first: one inseparable pair decides the whole.
    """
    K = system.n_classes
    both = [(f, s) for f in range(K) for s in range(f + 1, K)]
    order = range(len(both)) if v is not None or run is None else _confused_first(system, run, both)
    verdicts: list[PairVerdict | None] = [None] * len(both)
    for done, place in enumerate(order):
        share = deadline.share(min(MOST_SHARES, len(both) - done))
        verdicts[place] = _examine_pair(system, both[place], v, conflicts, share)
    return tuple(verdict for verdict in verdicts if verdict is not None)


def _confused_first(
    system: Inequalities, run: PerceptronRun, both: list[tuple[int, int]]
) -> list[int]:
    """Return the places of pairs in the order of how many rows the weights confuse between them."""
    K, leads = system.n_classes, system.leads(run.v)
    wrong = leads.numbers[leads.values <= 0]
    own, rival = system.rows.numbers[wrong // K], wrong % K
    counts = np.bincount(np.minimum(own, rival) * K + np.maximum(own, rival), minlength=K * K)
    return sorted(range(len(both)), key=lambda i: -int(counts[both[i][0] * K + both[i][1]]))


def _examine_pair(
    system: Inequalities,
    pair: tuple[int, int],
    v: NDArray[Any] | None,
    conflicts: Sequence[tuple[int, ...]],
    deadline: Deadline,
) -> PairVerdict:
    """Return the verdict on two classes: their own witness or certificate, and their margin."""
    rows, names = system.rows, system.rows.classes.tolist()
    labels = names[pair[0]], names[pair[1]]
    certificate = conflict_certificate(rows, conflicts, pair)
    if certificate is not None:
        return PairVerdict(labels, "inseparable", -inf, -inf, certificate)
    if deadline.passed:
        if v is None:
            return PairVerdict(labels, "undecided", -inf, inf)
        return PairVerdict(labels, "separable", 0.0, inf)  # v tells these two apart as well
    own, numbers = rows.of_classes(*pair)
    part = Inequalities(own)
    proof = Proof()
    if v is not None:
        V = v.reshape(system.blocks, -1)
        difference = V[pair[1]] - V[pair[0]]
        if is_witness(part, difference):
            proof = Proof(v=difference)
    if proof.v is None:
        proof = _proof(part, deadline)
    if proof.v is not None:
        ends = measure(part, proof.v, ~part.free, deadline)
        return PairVerdict(labels, "separable", ends.low, ends.high)
    found = certificate_of(part, proof)
    if isinstance(found, Certificate) and found.holds_for(own):
        return PairVerdict(labels, "inseparable", -inf, -inf, found.renumbered(numbers))
    return PairVerdict(labels, "undecided", -inf, inf)


def _first_proof(system: Inequalities, deadline: Deadline) -> tuple[PerceptronRun | None, Proof]:
    """Let the perceptron try, on the data as they are and then on even columns."""
    run = None
    with suppress(OutOfTimeError):
        run = run_perceptron(system.rows, deadline, scaled=False)
        if run is not None and run.converged and is_witness(system, run.v):
            return run, Proof(v=run.v)
        deadline.check()
        if is_uneven(system.rows):
            again = run_perceptron(system.rows, deadline, scaled=True)
            if again is not None:
                if again.converged and is_witness(system, again.v):
                    return None, Proof(v=again.v)
                run = again._replace(converged=False)
    return run, Proof()


def _measured(
    system: Inequalities, v: NDArray[Any], verdict: Verdict, square: Fraction, deadline: Deadline
) -> Verdict:
    """Return the verdict with witnesses of widest margin and both intervals."""
    geometric = measure(system, v, ~system.free, deadline.share(2))
    augmented = measure(system, v, np.ones(system.width, bool), deadline)
    names = {"margin": geometric, "margin of the vectors (x, 1)": augmented}
    short = [text for name, ends in names.items() for text in _shortfall(name, ends, deadline)]
    V = geometric.v.reshape(system.blocks, -1)
    two = system.n_classes == 2
    gamma = Fraction(augmented.low) if 0 < augmented.low < inf else None
    return replace(
        verdict,
        status="separable",
        margin_low=geometric.low,
        margin_high=geometric.high,
        augmented_low=augmented.low,
        augmented_high=augmented.high,
        bound=None if gamma is None else rounded_up((1 if two else 2) * square / gamma**2),
        w=V[0, :-1].copy() if two else V[:, :-1].copy(),
        b=float(V[0, -1]) if two else V[:, -1].copy(),
        augmented=augmented.v.reshape(V.shape)[0] if two else augmented.v.reshape(V.shape),
        nearest=certificate_of(system, geometric.proof),
        notes=(*verdict.notes, *short),
    )


def _shortfall(name: str, ends: MarginInterval, deadline: Deadline) -> list[str]:
    """Return a note if an interval is wider than REPORTED_GAP."""
    if ends.are_close:
        return []
    why = "the time limit was reached" if deadline.passed else "the solver came no nearer"
    gap = (ends.high - ends.low) / ends.high
    known = "only from below" if ends.high == inf else f"to within {100 * gap:.2g} %"
    return [f"{why}; the {name} is known {known}"]
