import html.parser
import importlib.util
import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from rosenblatt.errors import InputError
from rosenblatt.tracing import trace
from tests.examples import WORKED_X, WORKED_Y, XOR_X, XOR_Y

THREE_Y = ["a", "b", "c", "b"]


def test_the_terminal_table() -> None:
    """Columns line up, and the last line says how it ended."""
    steps = trace(XOR_X, XOR_Y, zero="negative", max_iter=1)
    assert str(steps).splitlines() == [
        "pass  row  x       y  activation         step  w       b",
        "   1    0  [0 0]  -1           0  right        [0 0]   0",
        "   1    1  [0 1]  +1           0  wrong    +1  [0 1]   1",
        "   1    2  [1 1]  -1           2  wrong    -1  [-1 0]  0",
        "   1    3  [1 0]  +1          -1  wrong    +1  [0 0]   1",
        "4 steps; stopped after max_iter passes.",
    ]
    assert steps.to_text() == str(steps)


def test_three_classes_show_who_gains_and_who_loses() -> None:
    """The step names the true class and its rival."""
    line = str(trace(XOR_X, THREE_Y, max_rows=1)).splitlines()[1]
    assert "a +1, b -1" in line
    assert line.endswith("[1 -1 0]")


def test_variances_of_second_order_rules() -> None:
    """Tables, records and data frames have them; of many features the surest come first."""
    steps = trace(XOR_X, THREE_Y, rule="arow", max_rows=2)
    record = json.loads(steps.to_json_lines().splitlines()[1])
    assert {"margin", "variance", "beta"} < set(record)
    assert np.shape(record["variance_w"]) == (3, 2)
    frame = steps.to_frame()
    assert frame["variance_w_1_a"].to_list() == [step.variance_w[0, 1] for step in steps]  # type: ignore[index]
    assert frame["beta"].to_list() == [step.beta for step in steps]
    rows = np.zeros((2, 20))
    rows[0, 3], rows[1, 7] = 2.0, 1.0
    last = trace(rows, ["no", "yes"], rule="arow", max_iter=1).to_text().splitlines()[2]
    assert "[3:0.333333 7:0.647059]" in last  # 1 − 4/6, 1 − 1/(1 + 5/6 + 1)


def test_a_long_trace_is_cut_in_the_middle_when_printed() -> None:
    """``str`` and the notebook show both ends; what is asked for by name is whole."""
    steps = trace(XOR_X, XOR_Y, max_iter=50)
    assert len(steps) == 200
    lines = str(steps).splitlines()
    assert lines[31] == "… 140 steps"
    assert len(lines) == 1 + 60 + 1 + 1
    assert "… 140 steps" in steps._repr_html_()
    assert len(steps.to_text().splitlines()) == 202
    assert steps.to_html().count("<tr") == 201


def test_markdown_keeps_labels_from_breaking_the_table() -> None:
    """A bar in a label is escaped; every line has the same number of cells."""
    lines = trace(XOR_X, ["a|b", "c", "c", "a|b"], max_iter=1).to_markdown().splitlines()
    assert lines[0].startswith("| pass | row | x | y |")
    assert r"a\|b" in lines[2]
    assert len({line.replace(r"\|", "").count("|") for line in lines[:6]}) == 1


class Cells(html.parser.HTMLParser):
    """Collects the text of table cells."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a cell."""
        del attrs
        if tag == "td":
            self.inside = True
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        """End a cell."""
        self.inside = self.inside and tag != "td"

    def handle_data(self, data: str) -> None:
        """Take the text of a cell."""
        if self.inside:
            self.cells[-1] += data


def test_html_escapes_labels() -> None:
    """A label with markup is shown, not run."""
    page = trace(XOR_X, ["<b>", "&", "&", "<b>"], max_iter=1).to_html()
    parser = Cells()
    parser.feed(page)
    assert [parser.cells[9 * n + 3] for n in range(4)] == ["<b>", "&", "&", "<b>"]
    assert page.count('class="update"') == 3


@pytest.mark.parametrize("labels", [XOR_Y, THREE_Y])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_json_lines_hold_every_field(labels: list[Any], form: Any) -> None:
    """Python's own reader gives back the numbers of the steps, bit for bit."""
    steps = trace(form(np.array(XOR_X) / 3), labels, max_iter=2, rule="pa1", averaged=True)
    lines = steps.to_json_lines().splitlines()
    assert len(lines) == len(steps)
    for line, step in zip(lines, steps, strict=True):
        read = json.loads(line)
        x = read["x"]
        if isinstance(x, dict):
            x = [x.get(str(j), 0.0) for j in range(2)]
        assert x == step.x.tolist()
        assert (read["pass"], read["row"], read["y"]) == (step.pass_, step.row, step.y)
        assert (read["mistake"], read["step"]) == (step.mistake, step.step)
        assert np.array_equal(read["activation"], step.activation)
        assert np.array_equal(read["w"], step.w)
        assert np.array_equal(read["average_b"], step.average_b)


@pytest.mark.parametrize(("library", "kind"), [("polars", pl.DataFrame), ("pandas", pd.DataFrame)])
def test_data_frames(library: str, kind: Any) -> None:
    """One row a step, and one column for each field, feature, weight and class."""
    steps = trace(WORKED_X, WORKED_Y, witness=([0, -2, 0], 1))
    frame: Any = steps.to_frame(library)
    assert isinstance(frame, kind)
    assert list(frame["w_1"]) == [step.w[1] for step in steps]
    assert list(frame["activation"]) == [step.activation for step in steps]
    assert list(frame["x_2"]) == [step.x[2] for step in steps]
    assert frame["sqnorm_bound"][0] == 4.0
    several = trace(XOR_X, THREE_Y, max_iter=1).to_frame(library)
    assert list(several["w_0_c"])[-1] == 0.0
    assert several["b_a"][0] == 1.0


def test_an_empty_trace_has_every_form() -> None:
    """Where the passes asked for never come, the tables have a head and no body."""
    steps = trace(WORKED_X, WORKED_Y, passes=9)
    assert str(steps).splitlines()[-1] == "0 steps; converged, the last pass made no mistake."
    assert steps.to_json_lines() == ""
    assert len(steps.to_frame()) == 0
    assert "<tbody></tbody>" in steps.to_html()


def test_wide_rows_show_what_is_not_zero() -> None:
    """Of many features only those present are printed, by number."""
    X = sparse.csr_array(([1.0, 2.0], ([0, 1], [3, 90_000])), shape=(2, 100_000))
    assert "[90000:2]  yes" in str(trace(X, ["no", "yes"], max_iter=1))
    with pytest.raises(InputError, match="would have 200002 columns, more than 10000"):
        trace(X, ["no", "yes"], max_iter=1).to_frame()


def test_a_missing_library_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence says what to install."""
    steps = trace(XOR_X, XOR_Y, max_iter=1)
    with pytest.raises(InputError, match="must be 'polars' or 'pandas'; got 'arrow'"):
        steps.to_frame("arrow")
    monkeypatch.setattr("rosenblatt.tracing.records.find_spec", lambda _name: None)
    with pytest.raises(InputError, match=r"needs polars: pip install "):
        steps.to_frame()
    assert importlib.util.find_spec("polars")
