"""Displays as SVG that takes its colours from the page, so that they follow light and dark."""

import io
import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.models.metrics import CoverageCurve
from rosenblatt.models.reliability import Reliability
from rosenblatt.plots.palette import BLUE, FAINT, GREEN, GRID, INK, PAPER, VERMILION
from rosenblatt.report.markup import figure

if TYPE_CHECKING:
    from rosenblatt.plots.display import Display

THEME = {  # what is drawn with, and what it becomes
    INK: "var(--ink)",
    FAINT: "var(--quiet)",
    GRID: "var(--line)",
    PAPER: "var(--paper)",
    BLUE: "var(--positive)",
    VERMILION: "var(--negative)",
    GREEN: "var(--third)",
}
STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: small, searchable, in the font of the page
    "text.color": INK,
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


def picture(display: "Display") -> str:
    """Return a display as a figure with its sentence."""
    from matplotlib import rc_context

    from rosenblatt.plots.display import figure_of

    buffer = io.StringIO()
    # Ids are hashed from the salt: the same every time, and of no other picture on the page.
    with rc_context({**STYLE, "svg.hashsalt": display.sentence}):
        drawn = figure_of(display)
        metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
        drawn.savefig(buffer, format="svg", bbox_inches="tight", metadata=metadata)
    return figure(page_svg(buffer.getvalue(), display.sentence), display.sentence)


def page_svg(document: str, description: str) -> str:
    """Return the SVG element of a document, as wide as its place and in the colours of the page."""
    svg = document[document.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<title>.*?</title>", "", svg, flags=re.DOTALL)
    head, rest = svg.split(">", 1)
    head = re.sub(r' (?:height|width)="[^"]*"', "", head)
    for drawn, colour in THEME.items():
        rest = re.sub(drawn, colour, rest, flags=re.IGNORECASE)
    return f'{head} role="img" aria-label="{escape(description)}">{rest}'


def course_picture(
    history: Sequence[dict[str, Any]], best: int, n_rows: int | None, title: str
) -> str:
    """Return errors by pass: of rows when they came, where their number is known, and held out."""
    from rosenblatt.plots.error_curves import ErrorsDisplay

    scores = [record["validation_score"] for record in history]
    held_out = None if None in scores else 1.0 - np.array(scores, np.float64)
    mistakes = np.array([record["mistakes"] for record in history], np.float64)
    if not n_rows and held_out is None:
        return ""
    return picture(
        ErrorsDisplay(
            np.array([record["pass_"] for record in history]),
            mistakes / n_rows if n_rows else None,
            held_out,
            None if held_out is None else best,
            "wrong when they came",
            "error on held-out rows",
            title,
        )
    )


def survival_picture(survival: NDArray[Any], title: str) -> str:
    """Return how long each weight vector lasted."""
    from rosenblatt.plots.survival import SurvivalDisplay

    return picture(SurvivalDisplay.from_survival(survival, title=title))


def coverage_picture(curve: CoverageCurve, n_rows: int, title: str) -> str:
    """Return the error where only the surest votes are answered."""
    from rosenblatt.plots.coverage import CoverageDisplay

    return picture(CoverageDisplay(*curve, "vote margin", n_rows, title))


def recall_picture(scores: NDArray[Any], positive: NDArray[Any], label: str, title: str) -> str:
    """Return precision against recall of one class."""
    from rosenblatt.plots.precision_recall import PrecisionRecallDisplay

    return picture(
        PrecisionRecallDisplay.from_scores(scores, positive, scores > 0, label=label, title=title)
    )


def reliability_picture(reliability: Reliability, what: str, title: str) -> str:
    """Return probabilities against what came true."""
    from rosenblatt.plots.reliability import ReliabilityDisplay

    return picture(ReliabilityDisplay.from_reliability(reliability, what=what, title=title))
