"""Damaged Parquet and Arrow files end in a sentence, even where they end the process that reads."""

import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rosenblatt.cli.guard import columnar_file
from tests.cli.running import run


def test_an_aborted_reader_is_survived(tmp_path: Path) -> None:
    """A file that claims petabytes is said to be damaged; its like that is whole is read."""
    columns: dict[str, list[Any]] = {"x": [1.0, 2.0], "word": ["blue", None], "label": ["a", "b"]}
    frame = pl.DataFrame({name: values * 4948 for name, values in columns.items()})
    frame.write_ipc(tmp_path / "whole.arrow", compression="lz4")
    data = (tmp_path / "whole.arrow").read_bytes()
    bitmap = (frame.height // 8).to_bytes(8, "little")  # the bytes that say which words are there
    claimed = data.replace(bitmap, (1 << 52).to_bytes(8, "little"))
    assert claimed != data
    (tmp_path / "cut.arrow").write_bytes(claimed)
    environment = os.environ | {"RUST_BACKTRACE": "0"}
    done = run("train", "cut.arrow", "-o", "m", folder=tmp_path, env=environment)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("Error: cut.arrow ")
    assert not (tmp_path / "m").exists()
    done = run("train", "whole.arrow", "-o", "m", folder=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert "9,896 rows" in done.stdout
    done = run("train", "missing.arrow", "whole.arrow", folder=tmp_path, env=environment)
    assert (done.returncode, done.stderr) == (2, "Error: There is no file missing.arrow.\n")


def test_only_columnar_files_are_guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parquet and Arrow are known by their first bytes, in patterns too; others need no guard."""
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"x": [1]}).write_parquet("part-1.parquet")
    Path("rows.csv").write_text("x,label\n1,a\n")
    assert columnar_file(["train", "rows.csv", "--test", "part-*.parquet"]) == "part-1.parquet"
    assert columnar_file(["train", "rows.csv", "-o", "m.model", "no such file", "\0"]) is None
