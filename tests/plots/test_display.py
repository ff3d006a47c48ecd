"""What all displays promise: sentences, summaries, files, and matplotlib only when drawing."""

import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from rosenblatt import AveragedPerceptron, plots
from rosenblatt.errors import InputError
from rosenblatt.lazy import installing
from rosenblatt.plots import Display, figure_of, write_picture
from rosenblatt.plots.palette import CLASS_COLOURS, class_style
from tests.plots.examples import AND_X, AND_Y, blobs
from tests.plots.test_shape import trained
from tests.processes import printed

X, Y = blobs(n_features=3)


def displays(folder: Path) -> list[Display]:
    """Return one of each kind."""
    clf = AveragedPerceptron(record_mistakes=True).fit(X, Y)
    of_rows: list[Any] = [plots.BoundaryDisplay, plots.RegionsDisplay, plots.ProjectionsDisplay]
    return [
        *(kind.from_estimator(clf, X, Y) for kind in of_rows),
        plots.UpdateDisplay.from_data(X, Y),
        plots.SeparabilityDisplay.from_data(X, Y),
        plots.ErrorsDisplay.from_data(X, Y, max_iter=3),
        plots.OrdersDisplay.from_data(X, Y, max_iter=2, n_seeds=2),
        plots.MistakesDisplay.from_data(AND_X, AND_Y),
        plots.AngleDisplay.from_data(AND_X, AND_Y),
        plots.WeightsDisplay.from_estimator(clf),
        plots.ContributionsDisplay.from_estimator(clf, X[0]),
        plots.SurvivalDisplay.from_estimator(clf),
        plots.CoverageDisplay.from_estimator(clf, X, Y),
        plots.PrecisionRecallDisplay.from_estimator(clf, X, Y),
        plots.RocDisplay.from_estimator(clf, X, Y),
        plots.ConfusionDisplay.from_estimator(clf, X, Y),
        plots.ReliabilityDisplay.from_probabilities([0.1, 0.4, 0.9], [0, 1, 1]),
        plots.ComparisonDisplay.from_data(X, Y, max_iter=2),
        plots.ShapeDisplay.from_estimator(trained(folder, bins=4)),
    ]


def test_every_display(tmp_path: Path) -> None:
    """Each says what it shows, sums itself up, is drawn without pyplot, and covers no text."""
    every = displays(tmp_path)
    assert {type(display).__name__ for display in every} == {
        name for name in plots.__all__ if name.endswith("Display") and name != "Display"
    }
    for display in every:
        assert display.sentence.endswith(".")
        json.dumps(display.summary(), allow_nan=False)
        figure = figure_of(display)
        assert plt.get_fignums() == []
        assert display.figure_ is figure
        figure.draw_without_rendering()
        _check_legend(figure)


def _check_legend(figure: Any) -> None:
    """Every legend is inside the figure and beside the axes of the points."""
    room = figure.bbox.padded(2)
    for ax in figure.axes:
        for text in (ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label):  # noqa: SLF001
            box = text.get_window_extent()
            assert not text.get_text() or not ax.axison or _holds(room, box), text
        legend = ax.get_legend()
        if legend is None:
            continue
        box = legend.get_window_extent()
        assert _holds(room, box)
        assert not ax.axison or box.x0 >= ax.get_window_extent().x1


def _holds(room: Any, box: Any) -> bool:
    return bool(room.x0 <= box.x0 and box.x1 <= room.x1 and room.y0 <= box.y0 and box.y1 <= room.y1)


def test_files(tmp_path: Path) -> None:
    """PNG, SVG and PDF are written, the same bytes each time; other endings are refused."""
    display = plots.BoundaryDisplay.from_estimator(AveragedPerceptron().fit(X, Y), X, Y)
    for suffix, start in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        path = tmp_path / f"a{suffix}"
        write_picture(display, path)
        first = path.read_bytes()
        assert first.startswith(start)
        write_picture(display, path)
        assert path.read_bytes() == first
    assert "Averaged perceptron: the boundary among 60 rows" in (tmp_path / "a.svg").read_text()
    with pytest.raises(InputError, match=r"a.gif must end in .png, .svg or .pdf"):
        write_picture(display, tmp_path / "a.gif")
    with pytest.raises(InputError, match="does not exist"):
        write_picture(display, tmp_path / "nowhere" / "a.png")


def test_title(tmp_path: Path) -> None:
    """A given title stands in place of the display's own; an empty one leaves it out."""
    clf = AveragedPerceptron().fit(X, Y)
    for kind in (plots.BoundaryDisplay, plots.ConfusionDisplay):
        display = kind.from_estimator(clf, X, Y)
        assert display.plot().ax_.get_title(loc="left").startswith("Averaged perceptron: ")
        for title in ("Mail in 2026", ""):
            write_picture(display, tmp_path / "a.svg", title=title)
            assert display.ax_.get_title(loc="left") == title
    several = plots.ComparisonDisplay.from_data(X, Y, max_iter=1)
    write_picture(several, tmp_path / "a.svg", title="Five learners")
    assert several.figure_.get_suptitle() == "Five learners"


def test_minus_signs() -> None:
    """Negative numbers of titles and legends have a minus sign; labels stay as they are."""
    y = np.where(Y == "spam", 1, -1)
    clf = AveragedPerceptron().fit(X + 3.0, y)
    display = plots.BoundaryDisplay.from_estimator(clf, X + 3.0, y).plot()
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts[:2] == ["-1", "1"]
    assert not any("-" in text for text in texts[2:])


def test_without_matplotlib() -> None:
    """Without matplotlib displays are computed, and drawing says what to install."""
    program = """
import sys
sys.modules["matplotlib"] = None
from rosenblatt import Perceptron
from rosenblatt.plots import BoundaryDisplay
X, y = [[0, 0], [1, 1]], [0, 1]
display = BoundaryDisplay.from_estimator(Perceptron().fit(X, y), X, y)
try:
    display.plot()
except ValueError as error:
    print(error)
"""
    said = f"Pictures need matplotlib; install it with: {installing('plots')}\n"
    assert printed(program) == said


def test_styles() -> None:
    """Dozens of classes differ in colour or marker, and repeated colours are hatched."""
    styles = [class_style(k) for k in range(84)]
    assert len({(style.colour, style.marker) for style in styles}) == 84
    assert len({(s.tint, s.hatch) for s in styles[: 5 * len(CLASS_COLOURS)]}) == 35


def test_what_a_notebook_prints() -> None:
    """The repr of a display is its sentence, not its arrays."""
    display = plots.ConfusionDisplay.from_counts([[8, 2], [1, 9]], ["ham", "spam"])
    assert repr(display) == f"<ConfusionDisplay: {display.sentence}>"
