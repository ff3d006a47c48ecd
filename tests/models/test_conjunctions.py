"""Models with pairs of features, as version 0.2.0 trained them on files."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from rosenblatt.cli import main
from rosenblatt.data.encoding import encoding_from, numbered
from rosenblatt.errors import InputError
from rosenblatt.models.file import read, write
from rosenblatt.models.file_rows import StoredEncoding
from tests.cli.running import invoked
from tests.cli.test_train import table_file

PAIRS = str(Path(__file__).parent / "old" / "pairs-0.2.0.model")  # of columns a, b (0 or 1) and c
ROWS = "a,b,c\n0,0,red\n0,1,red\n1,0,green\n1,1,blue\n"
ANSWERS = ["yes", "no", "no", "yes"]


def test_a_model_with_all_pairs_is_used_and_learns_on(tmp_path: Path) -> None:
    """A file of 0.2.0 predicts, names the pair that it weighs, and goes on learning."""
    rows, more, model = (str(tmp_path / name) for name in ("rows.csv", "more.csv", "m"))
    Path(rows).write_text(ROWS)
    assert invoked("predict", PAIRS, rows).stdout.split() == ANSWERS
    assert "a-and-b" in invoked("weights", PAIRS).stdout
    lines = zip(ROWS.split(), ["y", *ANSWERS], strict=True)
    Path(more).write_text("".join(f"{row},{answer}\n" for row, answer in lines))
    assert invoked("evaluate", PAIRS, more).exit_code == 0
    done = invoked("train", more, "--from", PAIRS, "-o", model)
    assert done.exit_code == 0, done.stderr
    assert invoked("predict", model, rows).stdout.split() == ANSWERS


def test_rows_come_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows with many pairs are expanded some at a time, and predicted in their order."""
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c\n" + ROWS.partition("\n")[2] * 20)
    monkeypatch.setattr(numbered, "MOST_TOGETHER", 40)
    assert invoked("predict", PAIRS, str(path)).stdout.split() == ANSWERS * 20


def test_damaged_models(tmp_path: Path) -> None:
    """A table of conjunctions that cannot be is told as damage."""
    model = read(PAIRS)
    encoding, arrays = model.encoding, model.encoding_arrays
    assert encoding is not None
    for changed in ({"pairs": arrays["pairs"][::-1]}, {"pairs": arrays["pairs"] + 10**6}):
        with pytest.raises(InputError, match="damaged"):
            encoding_from(encoding, arrays | changed)
    for entry in ({"degree": 4}, {"hash_bits": 99}, {"inner": encoding}):
        with pytest.raises(InputError):
            encoding_from(encoding | entry, arrays)
    bad, rows = str(tmp_path / "bad"), tmp_path / "rows.csv"
    write(replace(model, stored_encoding=StoredEncoding(encoding | {"degree": 7}, arrays)), bad)
    rows.write_text(ROWS)
    assert invoked("predict", bad, str(rows)).exit_code == 2


def test_the_option_names_its_successor(tmp_path: Path) -> None:
    """Whoever asks for all pairs is shown the pairs of columns."""
    done = CliRunner().invoke(main, ["train", table_file(tmp_path / "a.csv"), "--pairs"])
    assert done.exit_code == 2
    assert "Did you mean '--column-pairs'?" in done.stderr


def test_standard_input_is_read_as_the_model_was_trained(tmp_path: Path) -> None:
    """A model with pairs of columns takes rows of columns from standard input."""
    path, model = table_file(tmp_path / "a.csv"), str(tmp_path / "m")
    assert invoked("train", path, "--column-pairs", "2", "-o", model).exit_code == 0
    done = CliRunner().invoke(main, ["predict", model, "-"], input=Path(path).read_bytes())
    assert done.exit_code == 0, done.output
    assert done.stdout == invoked("predict", model, path).stdout
