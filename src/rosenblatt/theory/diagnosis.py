"""diagnose: is there a boundary, how wide is its margin, and how is that certain."""

from dataclasses import replace
from fractions import Fraction
from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.theory.certificate import (
    Certificate,
    MachineCertificate,
    Proof,
    certificate_of,
    conflict_certificate,
)
from rosenblatt.theory.exact import root_bounds, rounded_up
from rosenblatt.theory.inequalities import Inequalities
from rosenblatt.theory.labelled_rows import LabelledRows, check_labelled_rows, find_conflicts
from rosenblatt.theory.search import PerceptronRun, decide, is_uneven, is_witness, run_perceptron
from rosenblatt.theory.solvers import Deadline
from rosenblatt.theory.verdict import PairVerdict, Verdict
from rosenblatt.theory.widest_margin import Ends, best_bias, low_margin, measure, squared_radius

REPORTED_GAP = 1e-6


def diagnose(
    X: Any,
    y: Any,
    *,
    model: Any = None,
    mistakes: int | None = None,
    time_limit: float | None = 60.0,
) -> Verdict:
    """Say whether a linear boundary separates the classes, with a proof either way.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
        It may have no features at all.
    y : array of shape (n_rows,)
        Labels, two classes or more; of two the second in sorted order is the positive one.
    model : fitted estimator, default None
        Its ``n_mistakes_`` is reported beside the bound.
    mistakes : int, default None
        The same as a number. With neither, the mistakes of the perceptron that the search began
        with are reported if it converged.
    time_limit : float, default 60.0
        Seconds after which no further step begins; None for no limit.

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
    """
    started = perf_counter()
    rows = check_labelled_rows(X, y)
    if mistakes is None and model is not None:
        mistakes = _mistakes_of(model)
    with np.errstate(all="ignore"):  # what overflows proves nothing, and is then not taken
        verdict = examine(rows, mistakes, Deadline(time_limit))
    return replace(verdict, seconds=perf_counter() - started)


def _mistakes_of(model: Any) -> int:
    if not hasattr(model, "n_mistakes_"):
        msg = f"model must be a fitted estimator of rosenblatt; got {type(model).__name__}."
        raise InputError(msg)
    return int(model.n_mistakes_)


def examine(rows: LabelledRows, mistakes: int | None, deadline: Deadline) -> Verdict:
    """Return the verdict on checked rows."""
    square = squared_radius(rows)
    system = Inequalities(rows)
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
        verdict = replace(verdict, pairs=examine_pairs(system, proof.v, deadline))
    certificate: Certificate | MachineCertificate | None = _known_certificate(rows, verdict)
    if certificate is None and proof.v is None:
        proof = decide(system, np.zeros(system.width) if run is None else run.v, deadline)
        certificate = certificate_of(system, proof)
    if certificate is not None and not certificate.holds_for(rows):
        proof.notes.append("a certificate was found that did not pass its check")
        certificate = None
    if certificate is not None:
        return replace(
            verdict,
            status="inseparable",
            certificate=certificate,
            margin_high=-inf,
            augmented_high=-inf,
        )
    if proof.v is None:
        hint = "to decide it, give more time (time_limit), or fewer rows or digits"
        return replace(verdict, notes=(*proof.notes, hint))
    if mistakes is None and run is not None and run.converged:
        verdict = replace(verdict, mistakes=run.mistakes)
    return _measured(system, proof.v, verdict, square, deadline)


def examine_pairs(
    system: Inequalities, v: NDArray[Any] | None, deadline: Deadline
) -> tuple[PairVerdict, ...]:
    """Return the verdict on every two classes; a witness v of the whole serves each of them."""
    rows, pairs = system.rows, []
    both = [(f, s) for s in range(system.n_classes) for f in range(s)]
    for done, (first, second) in enumerate(sorted(both)):
        own, numbers = rows.of_classes(first, second)
        parts = 2 * (len(both) - done) + 1  # solvers end some time after their limit
        examined = examine(own, None, deadline.share(parts))
        status, low = examined.status, examined.margin_low
        if status == "undecided" and v is not None:
            V = v.reshape(system.blocks, -1)
            pair = Inequalities(own)
            low = low_margin(pair, best_bias(pair, V[second] - V[first]), ~pair.free)
            status = "separable"
        proof = examined.certificate
        pairs.append(
            PairVerdict(
                (own.classes.tolist()[0], own.classes.tolist()[1]),
                status,
                low,
                examined.margin_high,
                proof.renumbered(numbers) if isinstance(proof, Certificate) else None,
            )
        )
    return tuple(pairs)


def _known_certificate(rows: LabelledRows, verdict: Verdict) -> Certificate | None:
    """Return the certificate that two equal rows are, or that of a pair of classes, if any."""
    if verdict.conflicts:
        return conflict_certificate(rows, verdict.conflicts[0])
    return next((pair.certificate for pair in verdict.pairs if pair.certificate is not None), None)


def _first_proof(system: Inequalities, deadline: Deadline) -> tuple[PerceptronRun | None, Proof]:
    """Let the perceptron try, on the data as they are and then on even columns."""
    run = run_perceptron(system.rows, deadline, scaled=False)
    if run is not None and run.converged and is_witness(system, run.v):
        return run, Proof(v=run.v)
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
    geometric = measure(system, best_bias(system, v), ~system.free, deadline.share(2))
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


def _shortfall(name: str, ends: Ends, deadline: Deadline) -> list[str]:
    """Say how far an interval is from what is usual, if it is."""
    if ends.high < inf and ends.high - ends.low <= REPORTED_GAP * ends.high:
        return []
    why = "the time limit came" if deadline.passed else "the solver came no nearer"
    gap = (ends.high - ends.low) / ends.high
    known = "from below" if ends.high == inf else f"to a relative {gap:.1g}"
    return [f"the {name} is known {known} only: {why}"]
