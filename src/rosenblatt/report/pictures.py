"""Displays as SVG that takes its colours from the page, so that they follow light and dark."""

import io
import re
from html import escape
from typing import Any

from markupsafe import Markup

from rosenblatt import plots
from rosenblatt.models.model import Model
from rosenblatt.plots.palette import BLUE, FAINT, GREEN, GRID, INK, PAPER, VERMILION
from rosenblatt.report.markup import part

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


def picture(display: plots.Display) -> Markup:
    """Return a display as a figure with its sentence."""
    from matplotlib import rc_context

    buffer = io.StringIO()
    # Ids are hashed from the salt: the same every time, and of no other picture on the page.
    with rc_context({**STYLE, "svg.hashsalt": display.sentence}):
        drawn = plots.figure_of(display)
        metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
        drawn.savefig(buffer, format="svg", bbox_inches="tight", metadata=metadata)
    svg = Markup(page_svg(buffer.getvalue(), display.sentence))  # noqa: S704  # its text is escaped
    return part("figure", svg, display.sentence)


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


def course_picture(model: Model) -> str:
    """Return errors by pass: of rows when they came, where their number is known, and held out."""
    n_rows = model.outcome.get("n_learned")
    display = plots.ErrorsDisplay.from_history(model.records, n_rows, title=model.learner)
    return "" if display is None else picture(display)
