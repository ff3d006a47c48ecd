"""Tables, their conclusions, and the page."""

import json
from pathlib import Path

import pytest

from reproduction.estimate import Estimate
from reproduction.line import Line, higher_error
from reproduction.results import DOCUMENT, PAGE, Results, page
from reproduction.table import Grid, Table
from rosenblatt.errors import InputError

MADE = {"date": "2026-01-31", "versions": {"Python": "3.11.0", "numpy": "2.0.0"}, "cores": 2}


def table(name: str = "libol", *, quick: bool = False, complete: bool = True) -> Table:
    """Return a table with a line of each verdict, a mean, a grid and a note."""
    made = Table(name, f"Title of {name}", "Their paper.", "Our way.", "This far.", quick, complete)
    made.made, made.seconds, made.digest = MADE, 83.2, "0123456789ab"
    for subject, ours in (("iris", 1.0), ("wine", -1.0), ("sonar", 0.2)):
        made.add(higher_error("Less error", subject, Estimate(ours, 1.0, 100)))
    made.add(Line("Mistakes", "d = 1", 412.0, Estimate(410.0, 3.0, 5), tolerance=5.0, decimals=0))
    made.add(Grid("More", ("rows", "error"), [["iris", 1.5], ["wine", 2]]))
    made.add("A note.")
    return made


def test_conclusion_is_counted_from_the_verdicts() -> None:
    """Every claim has a sentence that names the lines that do not reproduce."""
    assert table().conclusion == [
        "Less error: reproduced in 2 of 3 lines; differs in 1 (wine).",
        "Mistakes: reproduced in 1 of 1 lines.",
    ]


def test_conclusion_begins_with_the_mean() -> None:
    """Where there is a mean of the lines, the sentence says what comes of it first."""
    made = Table("t", "T", "s", "m", "t", quick=False)
    made.add(Line("Saving", "iris", 20.0, Estimate(1.0, 1.0, 9), tolerance=5.0))
    made.add(
        Line("Saving", "mean of the sets", 20.0, Estimate(18.0, 1, 2), tolerance=5.0, is_mean=True)
    )
    (sentence,) = made.conclusion
    assert sentence == (
        "Saving: reproduced on the mean of the sets (18.0; paper: 20.0); "
        "reproduced in 0 of 1 lines; differs in 1 (iris)."
    )


def test_json_and_back() -> None:
    """A table comes back from JSON as it was."""
    one = table()
    assert Table.from_json(json.loads(json.dumps(one.as_json()))).as_json() == one.as_json()


def test_page_says_all() -> None:
    """The page has the figures, verdicts, conclusions, versions, times and what is partial."""
    text = page([table(), table("averaging", quick=True), table("survival", complete=False)])
    assert "| iris | > 0 | 1.00 | 1.00 | 100 | +1.00 | 0.10 | 0.20 | reproduced |" in text
    assert "| d = 1 | 412 | 410 | 3.0 | 5 | -2 | 5.0 | reproduced |" in text  # no empty column
    assert "- Less error: reproduced in 2 of 3 lines" in text
    assert "2026-01-31, 2 cores; Python 3.11.0, numpy 2.0.0" in text
    assert "`libol`: whole, made on 2026-01-31 in 1 min 23 s, digest 0123456789ab." in text
    assert "`averaging`: a subset (--quick)" in text
    assert "`survival`: interrupted" in text
    assert "make reproduce" in text
    assert "| wine | 2 |" in text
    assert "A note." in text
    assert "| [Title of libol](#title-of-libol) | " in text
    assert text.index("make reproduce") > text.index("| what differs | lines |")


def test_the_page_of_the_repository_is_made_of_its_document() -> None:
    """The page is what its JSON says; python -m reproduction --resume -o docs writes it anew."""
    docs = Path(__file__).parents[2] / "docs"
    kept = Results.of(docs).tables
    assert kept
    assert (docs / PAGE).read_text("utf-8") == page(list(kept.values()))


def test_results_stay(tmp_path: Path) -> None:
    """A folder keeps tables of earlier runs, in the order of the page, and replaces by name."""
    Results.of(tmp_path).keep(table("survival"))
    Results.of(tmp_path).keep(table("libol"))
    assert list(Results.of(tmp_path).tables) == ["libol", "survival"]
    Results.of(tmp_path).keep(table("libol", complete=False))
    again = Results.of(tmp_path).tables
    assert (again["libol"].complete, again["survival"].complete) == (False, True)
    assert (tmp_path / PAGE).read_text("utf-8") == page(list(again.values()))
    stored = (tmp_path / DOCUMENT).read_text("utf-8")
    assert "verdict" not in stored  # it follows from the figures
    assert stored.count("\n") == 2 * 8 + 2  # a line for each of four figures and a grid


@pytest.mark.parametrize("text", ["", "[]", '{"tables": 3}', '{"tables": [{"name": "libol"}]}'])
def test_a_document_of_others_is_left_alone(tmp_path: Path, text: str) -> None:
    """A file that is no result of ours is neither read nor replaced."""
    (tmp_path / DOCUMENT).write_text(text)
    with pytest.raises(InputError, match="move it away"):
        Results.of(tmp_path)


def test_the_folder_must_be_there(tmp_path: Path) -> None:
    """Results are kept in a folder that exists."""
    with pytest.raises(InputError, match="nowhere is no folder: make it first"):
        Results.of(tmp_path / "nowhere")
