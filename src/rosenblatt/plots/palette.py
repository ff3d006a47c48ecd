"""The colours and markers of all pictures: classes differ in both.

The colours are those of Okabe and Ito (2008), which people with any colour vision tell apart; the
order puts the pair that differs most first: vermilion squares for the negative class, blue circles
for the positive one, as in the lab and the report. Nothing here needs matplotlib.
"""

from typing import NamedTuple

BLUE = "#0072B2"
VERMILION = "#D55E00"
GREEN = "#009E73"
PURPLE = "#CC79A7"
SKY = "#56B4E9"
ORANGE = "#E69F00"
YELLOW = "#F0E442"

CLASS_COLOURS = (VERMILION, BLUE, GREEN, PURPLE, SKY, ORANGE, YELLOW)
MARKERS = ("s", "o", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h")
HATCHES = ("", "///", "...", "xxx", "\\\\\\")  # of regions whose colour has been used before
LINES = ("-", "--", ":", "-.")

INK = "#1A1A1A"
FAINT = "#6E6E6E"  # 5 : 1 on white, so that text in it can be read
GRID = "#DDDDDD"
PAPER = "#FFFFFF"

TINT = 0.16  # share of the colour in the background of its region


class ClassStyle(NamedTuple):
    """How one class is drawn; 84 of them differ in colour, marker or both."""

    colour: str
    edge: str  # a darker one, for the rim of its marks
    tint: str  # a lighter one, for its region
    marker: str
    hatch: str


def class_style(number: int) -> ClassStyle:
    """Return the style of the class of this number.

    >>> class_style(0).colour, class_style(1).marker
    ('#D55E00', 'o')
    """
    colour = CLASS_COLOURS[number % len(CLASS_COLOURS)]
    return ClassStyle(
        colour,
        mixed(colour, INK, 0.6),
        mixed(colour, PAPER, TINT),
        MARKERS[number % len(MARKERS)],
        HATCHES[number // len(CLASS_COLOURS) % len(HATCHES)],
    )


def mixed(colour: str, other: str, share: float) -> str:
    """Return a mixture of two colours with this share of the first.

    >>> mixed("#FF0000", "#FFFFFF", 0.2)
    '#FFCCCC'
    """
    parts = [(int(colour[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02X}" for a, b in parts)
