from pathlib import Path

import pytest

from rosenblatt.data.sources import expand
from rosenblatt.errors import InputError


def _touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text("x\n")


def test_files_keep_their_order_and_patterns_are_sorted(tmp_path: Path) -> None:
    """Paths come in the order given; the files of a pattern by name, and no folders among them."""
    _touch(tmp_path, "part-2.csv", "part-10.csv", "part-1.csv", "z.csv")
    (tmp_path / "part-0.csv").mkdir()
    found = expand([f"{tmp_path}/z.csv", f"{tmp_path}/part-*.csv", "-"])
    names = [Path(file).name for file in found]
    assert names == ["z.csv", "part-1.csv", "part-10.csv", "part-2.csv", "-"]


def test_two_stars_reach_into_folders(tmp_path: Path) -> None:
    """A pattern with ** finds files at any depth."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    _touch(tmp_path / "a" / "b", "deep.csv")
    assert expand([f"{tmp_path}/**/*.csv"]) == [f"{tmp_path}/a/b/deep.csv"]


def test_a_file_may_have_the_characters_of_a_pattern_in_its_name(tmp_path: Path) -> None:
    """What exists under just this name is that file and no pattern."""
    _touch(tmp_path, "rows[1].csv", "rows1.csv", "what?.csv", "whatX.csv")
    assert expand([f"{tmp_path}/rows[1].csv"]) == [f"{tmp_path}/rows[1].csv"]
    assert expand([f"{tmp_path}/what?.csv"]) == [f"{tmp_path}/what?.csv"]
    (tmp_path / "rows[1].csv").unlink()
    assert expand([f"{tmp_path}/rows[1].csv"]) == [f"{tmp_path}/rows1.csv"]


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    """A missing file, an empty pattern, a folder and a second dash are errors in one sentence."""
    with pytest.raises(InputError, match=r"There is no file .*/nowhere\.csv\.$"):
        expand([f"{tmp_path}/nowhere.csv"])
    with pytest.raises(InputError, match=r"No file matches .*/part-\*\.csv\.$"):
        expand([f"{tmp_path}/part-*.csv"])
    with pytest.raises(InputError, match=r"is a folder; name its files, for .* '.*/\*\.csv'\.$"):
        expand([str(tmp_path)])
    with pytest.raises(InputError, match=r"Standard input \(-\) can be read only once"):
        expand(["-", "a.csv", "-"])
    with pytest.raises(InputError, match="name of a file must not be empty"):
        expand([""])
    with pytest.raises(InputError, match="There is no file a\0b"):
        expand(["a\0b"])
    with pytest.raises(
        InputError, match=r"aaa cannot be read: File name too long|There is no file"
    ):
        expand(["a" * 5000])
