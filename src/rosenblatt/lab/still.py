"""The points of a document as a still picture, for where the page does not run."""

from html import escape

from rosenblatt.lab.document import Document

SIDE = 360  # pixels
MARKS = {  # circles and squares in the colours of the page
    1: '<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{}" stroke="#0072b2" stroke-width="2"/>',
    -1: '<path d="M{x:.1f} {y:.1f}m-5-5h10v10h-10z" fill="{}" stroke="#c44f00" stroke-width="2"/>',
}
FILLS = {1: "#0072b2", -1: "#c44f00"}
FRAME = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-9 -9 378 378" width="378" height="378" '
    'role="img"><title>{}</title><rect width="360" height="360" fill="#fff" stroke="#858a92"/>'
    "{}</svg>"
)


def still_picture(document: Document) -> str:
    """Return an SVG text with the points on their plane; those held out are hollow."""
    left, right, bottom, top = document.view
    marks = [
        MARKS[side].format(
            FILLS[side] if learned else "#fff",
            x=(x - left) / (right - left) * SIDE,
            y=(top - y) / (top - bottom) * SIDE,
        )
        for (x, y, side), learned in document.marks
    ]
    return FRAME.format(escape(still_sentence(document)), "".join(marks))


def still_sentence(document: Document) -> str:
    """Return one line on a document."""
    n_positive = sum(side > 0 for *_, side in document.points)
    counts = (len(document.points) - n_positive, n_positive)
    of = " and ".join(f"{n} of {label}" for n, label in zip(counts, document.labels, strict=True))
    return f"The lab with {len(document.points)} points, {of}; run the notebook to train on them."
