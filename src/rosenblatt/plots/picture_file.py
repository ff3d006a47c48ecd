"""A display as a file: PNG, SVG or PDF, the same bytes every time, whole or not at all."""

import os
from pathlib import PurePath
from typing import Any

from rosenblatt.data.atomic import Target, replacing
from rosenblatt.errors import InputError
from rosenblatt.plots.canvas import Display, figure_of

SUFFIXES = (".png", ".svg", ".pdf")
DOTS = 110  # an inch of a PNG
STYLE: Any = {"svg.hashsalt": "rosenblatt", "pdf.fonttype": 42}


def check_picture_path(path: Target) -> str:
    """Return the form that the name of a file asks for: "png", "svg" or "pdf"."""
    suffix = PurePath(os.fspath(path)).suffix.lower()
    if suffix not in SUFFIXES:
        msg = (
            f"{os.fspath(path)} must end in .png, .svg or .pdf, which says what kind of picture "
            "is written."
        )
        raise InputError(msg)
    return suffix[1:]


def write_picture(display: Display, path: Target) -> None:
    """Draw a display and write it to a file whose name ends in .png, .svg or .pdf.

    SVG and PDF carry its sentence as their title.

    Raises
    ------
    InputError
        Where the name has another ending or the file cannot be written; nothing is changed then.
    """
    form = check_picture_path(path)
    figure = figure_of(display)
    from matplotlib import rc_context

    metadata: dict[str, Any] = {"Title": display.sentence}
    if form == "svg":
        metadata["Date"] = None
    elif form == "pdf":
        metadata |= {"CreationDate": None, "ModDate": None}
    with rc_context(STYLE), replacing(path) as file:
        figure.savefig(
            file, format=form, dpi=DOTS, bbox_inches="tight", pad_inches=0.08, metadata=metadata
        )
