"""The verdict on the points of a document, in the words and marks of the page."""

from typing import Any

from rosenblatt.lab.document import Document
from rosenblatt.lab.sentences import number
from rosenblatt.lab.space import Space
from rosenblatt.theory.certificate import Certificate
from rosenblatt.theory.diagnosis import diagnose
from rosenblatt.theory.verdict import Verdict

TIME_LIMIT = 2.0  # seconds; a page should not wait longer
LEAST_WEIGHT = 1e-6  # of a row that is marked: a solver leaves traces on rows that do not count


def verdict_on(document: Document) -> dict[str, Any]:
    """Return whether a boundary of this space separates the points, and the proof.

    ``rows`` are those that the proof rests on: the mixtures that meet where no boundary can pass,
    or the points nearest to the widest boundary.
    """
    if len(set(document.y.tolist())) < 2:
        sentence = "A verdict needs points of both classes."
        return {"status": "open", "sentence": sentence, "lines": [], "rows": [], "bound": None}
    space = Space(document)
    verdict = diagnose(space.features(), document.y, time_limit=TIME_LIMIT)
    return {
        "status": verdict.status,
        "sentence": _sentence(verdict, document),
        "lines": str(verdict).splitlines(),
        "rows": _rows(verdict),
        "bound": verdict.bound if document.rule == "perceptron" else None,
        "margin": verdict.margin_low if verdict.status == "separable" else None,
        "radius": verdict.as_json()["radius"],
        "witness": _witness(verdict) if space.is_line else None,
    }


def _sentence(verdict: Verdict, document: Document) -> str:
    what = "line" if document.map == document.kernel == "none" else "boundary of these features"
    if verdict.status == "separable":
        said = (
            f"Separable: a {what} parts the classes, with {number(verdict.margin_low)} to spare on "
            "either side."
        )
        if verdict.bound is not None and document.rule == "perceptron":
            said += f" A perceptron makes at most R²/γ² = {number(verdict.bound)} mistakes."
        return said
    if verdict.status == "inseparable":
        where = "the same point with both labels" if verdict.conflicts else "the marked points"
        return (
            f"Inseparable: no {what} parts the classes. The proof: {where}, mixed in the "
            "proportions below, are one and the same point for both classes."
        )
    return "Undecided: no proof either way was found in the time that a page should take."


def _rows(verdict: Verdict) -> list[list[Any]]:
    """Return the rows of the proof, each with its weight as a fraction in text."""
    proof = verdict.certificate if verdict.certificate is not None else verdict.nearest
    if not isinstance(proof, Certificate):
        return []
    sides = (
        (proof.positive_rows, proof.positive_weights),
        (proof.negative_rows, proof.negative_weights),
    )
    return [
        [row, _share(weight)]
        for rows, weights in sides
        for row, weight in zip(rows, weights, strict=True)
        if weight > LEAST_WEIGHT
    ]


def _share(weight: Any) -> str:
    return str(weight) if weight.denominator < 1000 else number(float(weight))


def _witness(verdict: Verdict) -> list[float] | None:
    """Return the boundary of widest margin, the bias last."""
    if verdict.status != "separable" or verdict.w is None:
        return None
    return [*verdict.w.tolist(), float(verdict.b)]
