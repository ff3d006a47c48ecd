"""Texts beyond ASCII: what decides is learned, however letters are composed."""

import json
import unicodedata
from pathlib import Path
from typing import Literal

import pytest

from tests.cli.running import invoked


def error(test: str, *options: str) -> float:
    """Return the error of a model of train.csv on test data."""
    done = invoked("train", "train.csv", *options, "-o", "m.model", "--json")
    assert done.exit_code == 0, done.stderr
    done = invoked("evaluate", "m.model", test, "--json")
    assert done.exit_code == 0, done.stderr
    return float(json.loads(done.stdout)["error"])


@pytest.mark.parametrize(
    ("first", "second"),
    [("काला", "कील"), ("C++", "C#"), ("😀", "😡"), (":-)", ":-("), ("->", "<-"), ("$", "€")],
)
@pytest.mark.parametrize("options", [(), ("--char-ngrams", "1-3", "--no-word-pairs")])
def test_what_marks_emoji_and_symbols_decide_is_learned(
    first: str, second: str, options: tuple[str, ...]
) -> None:
    """Texts that differ in nothing else are told apart."""
    rows = [f"{'ab'[k % 2]},row {k * 7 % 11} {(first, second)[k % 2]} end" for k in range(80)]
    Path("train.csv").write_text("\n".join(["label,body", *rows]), encoding="utf-8")
    assert error("train.csv", "--text", "body", "--label", "label", *options) == 0.0


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_letters_in_two_compositions_are_the_same(ending: str) -> None:
    """A model of composed data has no error on decomposed ones, and answers as it has learned."""
    words, cities, labels = ("crème", "gâteau"), ("Zürich", "Köln"), ("été", "hiver·é")
    rows = [
        {"thé": f"Eau {words[k % 2]} {k}", "ville": cities[k % 2], "saison": labels[k % 2]}
        for k in range(80)
    ]
    forms: tuple[tuple[Literal["NFC", "NFD"], str], ...] = ("NFC", "train"), ("NFD", "test")
    for form, name in forms:
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        if ending == "csv":
            lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
        text = unicodedata.normalize(form, "\n".join([*lines, ""]))
        Path(f"{name}.{ending}").write_text(text, encoding="utf-8")
    train = f"train.{ending}"
    named = unicodedata.normalize("NFD", "thé")
    done = invoked("train", train, "--text", named, "--label", "saison", "-o", "m.model")
    assert done.exit_code == 0, done.stderr
    done = invoked("evaluate", "m.model", f"test.{ending}", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["error"] == 0.0
    assert "otherwise than in training" not in done.stderr
    done = invoked("predict", "m.model", f"test.{ending}")
    assert {*done.stdout.split("\n")} == {*labels, ""}
    for role, column, dropped in (("category", "ville", "thé"), ("text", "thé", "ville")):
        options = (f"--{role}", column, "--ignore", dropped, "--label", "saison")
        invoked("train", train, *options, "-o", "m.model")
        done = invoked("evaluate", "m.model", f"test.{ending}", "--json")
        assert json.loads(done.stdout)["error"] == 0.0


def test_both_compositions_in_one_file_are_one_class_and_one_level() -> None:
    """Labels and categories come back as they are written first."""
    forms = [unicodedata.normalize(form, "é") for form in ("NFD", "NFC")]
    rows = [f"{forms[k % 2]},{forms[k // 2 % 2]}" if k % 3 else "x,n" for k in range(90)]
    Path("t.csv").write_text("\n".join(["city,label", *rows]), encoding="utf-8")
    done = invoked("train", "t.csv", "--label", "label", "--category", "city", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["classes"] == [forms[0], "n"]
    shown = invoked("weights", "t.model").stdout
    assert f"city={forms[1]}" in shown
    assert f"city={forms[0]}" not in shown


def test_names_of_two_words_are_kept_and_what_is_left_out_says_how() -> None:
    """Names are texts; a key is left out, and the line names the options that keep it."""
    first, last = ("Ann", "Bob", "Eve"), ("Miller", "Weber", "Novak", "Rossi", "Silva", "Kim")
    rows = [
        f"{first[k % 3]}{'aeiou'[k % 5]} {last[k % 6]}{chr(97 + k // 6)},k{k:03}x,{'pn'[k % 2]}"
        for k in range(60)
    ]
    Path("t.csv").write_text("\n".join(["name,code,label", *rows]))
    done = invoked("train", "t.csv", "--label", "label")
    assert "texts: 1: 'name'" in done.stdout + done.stderr
    assert (
        "left out: 'code': it has a different value in every row; to learn from a column, name it"
        " with --category, --text or --numeric"
    ) in done.stdout + done.stderr
