"""Figures on the pages are of the code beside them, or say of which version they are."""

import json
import re
from pathlib import Path

from benchmarks import defaults, passes
from benchmarks.defaults import default_digest
from benchmarks.passes import passes_digest

DOCS = Path(__file__).parents[2] / "docs"


def test_the_tables_of_the_defaults_are_of_this_code() -> None:
    """The errors of train by default were measured with today's defaults; strangers say when."""
    results = json.loads(defaults.RESULTS.read_text())
    digest = default_digest()
    older = [
        name
        for name in defaults.SETS
        if results[name]["made"]["rosenblatt"].get("digest") != digest
    ]
    command = "python -m benchmarks.defaults --ours"
    assert not older, f"docs/defaults.md is older than the code; run: {command} {' '.join(older)}"


def test_the_page_of_the_defaults_is_made_of_its_document() -> None:
    """Both tables are what the JSON says, below which version measured them, and when."""
    text = defaults.PAGE.read_text()
    results = json.loads(defaults.RESULTS.read_text())
    assert text == defaults.page(text, results), "run: python -m benchmarks.defaults --page"
    said = re.findall(r"(?m)^Measured by \S+ [\d.]+(?: \(\w+\))? on \d{4}-\d\d-\d\d.*; ", text)
    assert len(said) == 2


def test_made_by() -> None:
    """What measured every set is named once; of what measured some the sets are named."""
    ours = {"by": "rosenblatt 0.2.0", "date": "2026-02-01"}
    theirs = {"by": "scikit-learn 1.9", "date": "2026-01-31"}
    results = {
        "iris": {"made": {"rosenblatt": {**ours, "digest": "0a"}, "LinearSVC": theirs}},
        "wine": {"made": {"rosenblatt": ours, "LinearSVC": theirs}},
    }
    assert defaults.made_by(results) == (
        "Measured by scikit-learn 1.9 on 2026-01-31; rosenblatt 0.2.0 on 2026-02-01, digest 0a "
        "(iris); rosenblatt 0.2.0 on 2026-02-01 (wine)."
    )


def test_the_tables_of_passes_are_of_this_code() -> None:
    """The tables on the number of passes were made by code that gives what today's gives."""
    said = re.search(
        r"Tables made on \d{4}-\d\d-\d\d by rosenblatt [\d.]+ \(\w+\), digest (\w+)\.",
        passes.PAGE.read_text(),
    )
    message = "docs/passes.md is older than the code; run: python -m benchmarks.passes --write"
    assert said, message
    assert said.group(1) == passes_digest(), message


def test_speeds_say_when_and_by_which_version() -> None:
    """Between the heading, or the table before it, and each table of speeds stand both."""
    text = (DOCS / "speed.md").read_text()
    pieces = re.split(r"(?m)^\|[^|\n]*\| ours \|.*$", text)
    assert len(pieces) == 3
    for before in pieces[:-1]:
        section = re.split(r"(?m)^## ", before)[-1]
        assert re.search(
            r"(?i)measured on \d{4}-\d\d-\d\d by\s+rosenblatt [\d.]+ \(\w{7}\)", section
        ), section[:200]
