"""The command that lists labels that are probably wrong."""

import csv
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rosenblatt import audit
from tests.cli.running import invoked


@pytest.fixture
def mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a file of texts, of which three have another label than those like them."""
    monkeypatch.chdir(tmp_path)
    lines = [f"spam,buy now {k}\nham,see you {k}\n" for k in range(40)]
    wrong = [
        "ham,buy now soon\n",
        "spam,see you soon\n",
        '"ham","buy, now; ' + "buy now " * 12 + '"\n',
    ]
    Path("mail.csv").write_text("label,body\n" + "".join([*lines, *wrong]))
    return "mail.csv"


def test_a_table_of_suspects(mail: str) -> None:
    """Each line has place, label, suggestion, probability and the row, cut where it is long."""
    result = invoked("audit", mail, "--text", "body")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("3 of 83 rows have a label that is less probable than another")
    assert "mail.csv:82" in result.stdout
    shown = next(line for line in result.stdout.splitlines() if "mail.csv:83" in line)
    assert shown.split()[1:3] == ["spam", "ham"]
    assert shown.endswith("see you soon")
    assert max(map(len, result.stdout.splitlines())) < 130
    few = invoked("audit", mail, "--text", "body", "--top", "1").stdout
    assert few.count("mail.csv:") == 1
    assert "2 more: --top 3, or --out FILE.csv" in few


def test_json_and_csv_hold_what_python_returns(mail: str) -> None:
    """JSON has the first rows and the number of all; CSV has all, with the columns of the file."""
    found = audit(mail, text="body", folds=4).report()
    shown = invoked("audit", mail, "--text", "body", "--folds", "4", "--json", "--top", "2")
    document = json.loads(shown.stdout)
    assert document["suspects"] == found["suspects"][:2]
    assert document["n_suspects"] == found["n_suspects"] == 3
    result = invoked("audit", mail, "--text", "body", "--folds", "4", "--out", "all.csv")
    assert "All of them: all.csv" in result.stdout
    with Path("all.csv").open(newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [(row["file"], int(row["line"]), row["body"]) for row in rows] == [
        (row["file"], row["line"], row["values"]["body"]) for row in found["suspects"]
    ]
    assert [float(row["probability"]) for row in rows] == [
        row["probability"] for row in found["suspects"]
    ]


def test_errors_have_code_two(mail: str) -> None:
    """What cannot run says why: too many folds, standard input, a folder that is not there."""
    assert "--folds must be at least 2" in invoked("audit", mail, "--folds", "100").stderr
    result = invoked("audit", mail, "--out", "none/all.csv")
    assert result.exit_code == 2
    result = invoked("audit", "-", given="label,x\n" + "a,1\nb,2\n" * 20)
    assert result.exit_code == 2
    assert "audit reads the data twice" in result.stderr


def test_several_labels_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels to remove and to add are lines of the same table, CSV and JSON."""
    monkeypatch.chdir(tmp_path)
    rows = ["game;perl,chess in perl", "game,chess board", "perl,parser in perl", ",mail reader"]
    lines = [f"{row} {k}" for k in range(30) for row in rows]
    lines += ["perl,chess in perl now", "game,mail reader now"]
    Path("tags.csv").write_text("\n".join(["tags,text", *lines, ""]))
    options = ("--label", "tags", "--label-separator", ";", "--text", "text")
    result = invoked("audit", "tags.csv", *options, "--out", "doubtful.csv")
    assert result.exit_code == 0, result.stderr
    told = "2 labels of 122 rows are probably wrong or missing (averaged passive-aggressive"
    assert result.stdout.startswith(told)
    shown = [line.split() for line in result.stdout.splitlines() if "tags.csv:" in line]
    assert {(line[0], *line[1:4]) for line in shown} == {
        ("tags.csv:122", "perl", "add", "game"),
        ("tags.csv:123", "game", "remove", "game"),
    }
    with Path("doubtful.csv").open() as file:
        written = [*csv.DictReader(file)]
    listed = json.loads(invoked("audit", "tags.csv", *options, "--json").stdout)["suspects"]
    assert [row["label"] for row in listed] == [[row["label"]] for row in written]
    assert [row["suggested"] for row in listed] == [row["suggested"] for row in written]
    assert {row["suggested"]: row["text"] for row in written} == {
        "add game": "chess in perl now",
        "remove game": "mail reader now",
    }


def test_data_are_not_written_over(mail: str) -> None:
    """A command that would replace what it reads by what it writes stops before it starts."""
    before = Path(mail).read_bytes()
    for link in ("link.csv", "link.svg"):
        Path(link).symlink_to(mail)
    assert invoked("train", mail, "-o", "m").exit_code == 0
    model = Path("m").read_bytes()
    Path("apart.csv").write_bytes(before)
    for line in (
        ("audit", mail, "--out", mail),
        ("audit", "ma*.csv", "--out", "link.csv"),
        ("train", mail, "-o", mail),
        ("tune", mail, "-o", mail),
        ("train", mail, "--test", mail, "-o", "link.csv"),
        ("predict", "m", mail, "-o", mail),
        ("predict", "m", mail, "-o", "m"),
        ("predict", "m", mail, "--guarantee", "apart.csv", "--sets", "9%", "-o", "apart.csv"),
        ("report", "m", "--test", mail, "-o", mail),
        ("report", "m", "-o", "m"),
        ("plot", "weights", mail, "-o", "link.svg"),
        ("plot", "weights", "m", "--test", mail, "-o", "link.svg"),
        ("export", "m", "--format", "json", "-o", "m"),
    ):
        result = invoked(*line)
        assert result.exit_code == 2, line
        assert "is a file to read; choose another one to write." in result.stderr
    assert (Path(mail).read_bytes(), Path("m").read_bytes()) == (before, model)


@pytest.mark.parametrize("command", [("audit",), ("evaluate", "--folds", "5")])
def test_what_was_read_and_skipped_is_told(mail: str, command: tuple[str, ...]) -> None:
    """Columns are named; rows that are bad or without a label are counted, in JSON too."""
    lines = Path(mail).read_text().splitlines()
    lines = [f"{line},{k}" if k else f"{line},size" for k, line in enumerate(lines)]
    lines[5] = lines[5].replace(",5", ",big")
    lines[9] = f",{lines[9].split(',', 1)[1]}"
    Path(mail).write_text("\n".join([*lines, ""]))
    options = ("--text", "body", "--numeric", "size", "--bad-rows", "skip", "--max-bad-share", "1")
    result = invoked(*command, mail, *options)
    assert "Skipped 1 bad row. The first: mail.csv, line 6: 'big' in column" in result.stderr
    assert "1 row without a label skipped." in result.stderr
    assert "label: 'label', by its name" in result.stdout
    document = json.loads(invoked(*command, mail, *options, "--json").stdout)
    assert document["bad_rows"]["count"] == document["bad_rows"]["without_label"] == 1
    assert document["decisions"]["label"] == "label"


def test_vectors_do_not_hide_what_can_be_read(tmp_path: Path) -> None:
    """Audits and reports show how long a vector is, beside the words of its row."""
    X = np.random.default_rng(0).normal(size=(120, 9))
    labels, words = np.where(X[:, 0] > 0, "up", "down"), ["see", "you"] * 60
    labels[:4] = ["up" if label == "down" else "down" for label in labels[:4]]
    rows = pl.DataFrame({"label": labels, "v": X.tolist(), "word": words})
    path, model = str(tmp_path / "rows.parquet"), str(tmp_path / "m")
    rows.write_parquet(path)
    assert "v=[9 numbers] word=see" in invoked("audit", path, "--category", "word").stdout
    assert invoked("train", path, "--category", "word", "-o", model).exit_code == 0
    assert invoked("report", model, "--test", path, "-o", str(tmp_path / "page")).exit_code == 0
    page = (tmp_path / "page").read_text(encoding="utf-8")
    assert "[9 numbers]" in page
    assert "[-0." not in page
