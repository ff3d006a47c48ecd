import bz2
import gzip
import importlib.util
import io
import lzma
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from rosenblatt.data import sources
from rosenblatt.data.sources import expand, opened
from rosenblatt.errors import InputError
from tests.data.reading import read_svmlight


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
    _touch(tmp_path, "Train.csv", "test.csv")
    with pytest.raises(InputError, match=r"no file .*/train\.cvs\. Did you mean .*/Train\.csv\?$"):
        expand([f"{tmp_path}/train.cvs"])
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


TEXT = b"".join(b"%d 1:%d 7:0.5\n" % (k % 2, k) for k in range(20_000))


def _zstd(text: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        zstd = pytest.importorskip("backports.zstd")
    checksum = {zstd.CompressionParameter.checksum_flag: 1}  # as the command zstd does
    return bytes(zstd.compress(text, options=checksum))


PACKED: dict[str, Any] = {
    "gzip": gzip.compress,
    "zstandard": _zstd,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}
PACKERS = {"plain": bytes} | PACKED


def _all(path: Path) -> bytes:
    pieces, buffer = [], bytearray(1 << 16)
    with opened(path) as source:
        while count := source.readinto(memoryview(buffer)):
            pieces.append(bytes(buffer[:count]))
        assert source.bytes_read == path.stat().st_size
    return b"".join(pieces)


@pytest.mark.parametrize("packer", PACKERS)
def test_a_packed_file_is_read_whatever_its_name(packer: str, tmp_path: Path) -> None:
    """Files are unpacked by what they hold, and all their bytes are counted."""
    file = tmp_path / "rows.txt"
    file.write_bytes(PACKERS[packer](TEXT))
    assert _all(file) == TEXT


@pytest.mark.parametrize("packer", PACKED)
def test_packed_parts_may_follow_one_another(packer: str, tmp_path: Path) -> None:
    """Packed files that were joined are read to the end."""
    file = tmp_path / "rows"
    file.write_bytes(PACKERS[packer](TEXT) + PACKERS[packer](TEXT))
    assert _all(file) == 2 * TEXT


@pytest.mark.parametrize("packer", PACKED)
@pytest.mark.parametrize("library", ["fast", "standard"])
def test_a_packed_file_that_was_cut_off_is_an_error(
    packer: str, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are missing at the end of a packed file never go unnoticed."""
    if library == "standard":
        _without(monkeypatch, "isal")
    packed = PACKERS[packer](TEXT)
    file = tmp_path / "rows"
    for length in (len(packed) - 1, len(packed) - 9, len(packed) // 2, 30, 11):
        file.write_bytes(packed[:length])
        with pytest.raises(InputError, match=r"rows is damaged: .*[a-z]\.$"):
            read_svmlight(file)


@pytest.mark.parametrize("packer", PACKED)
@pytest.mark.parametrize("library", ["fast", "standard"])
def test_a_packed_file_with_wrong_bytes_is_an_error_or_the_same(
    packer: str, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flipped byte gives an error; only where it is of no account the same rows."""
    if library == "standard":
        _without(monkeypatch, "isal")
    packed = PACKERS[packer](TEXT)
    file = tmp_path / "rows"
    file.write_bytes(packed)
    expected = read_svmlight(file)
    n_damaged = 0
    for place in range(4, len(packed), len(packed) // 40):
        wrong = bytearray(packed)
        wrong[place] ^= 0x15
        file.write_bytes(wrong)
        try:
            rows = read_svmlight(file)
        except InputError:
            n_damaged += 1
        else:
            assert rows.data.tobytes() == expected.data.tobytes()
    assert n_damaged > 20


def _zipped(path: Path, method: int = zipfile.ZIP_DEFLATED, flags: int = 0) -> bytearray:
    """Return an archive of one file, which claims this method and these flags."""
    known = method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2)
    with zipfile.ZipFile(path, "w", method if known else zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.svm", TEXT)
    packed = bytearray(path.read_bytes())
    for start in (8, packed.rfind(b"PK\x01\x02") + 10):
        packed[start] = method
        packed[start - 2] |= flags
    return packed


@pytest.mark.parametrize(
    ("method", "flags", "place", "what"),
    [
        (8, 0, None, None),
        (12, 0, None, None),
        (14, 0, None, None),
        (9, 0, None, "a zip archive packed with Deflate64, which is not read: unpack it yourself."),
        (8, 32, None, "a zip archive packed in an unusual way, which is not read: unpack it yours"),
        (8, 1, None, "locked by a password ('rows.svm'): unpack it and name a file."),
        (99, 1, None, "locked by a password ('rows.svm'): unpack it and name a file."),
        (8, 0, 0, "a damaged zip archive: Bad magic number for file header."),
        (8, 0, 30, "a damaged zip archive: File name in directory 'rows.svm' and header"),
        (8, 0, 2000, "damaged: "),
        (14, 0, 2000, "damaged: "),
        (8, 0, -22, "a damaged zip archive: File is not a zip file."),
    ],
)
def test_a_zip_archive_is_read_or_the_reason_is_a_sentence(
    tmp_path: Path, method: int, flags: int, place: int | None, what: str | None
) -> None:
    """An archive that is damaged, locked or packed with Deflate64 says so."""
    path = tmp_path / "rows.zip"
    packed = _zipped(path, method, flags)
    if place == 0:  # where the directory at the end says that the file begins
        packed[packed.rfind(b"PK\x01\x02") + 42] = 7
    elif place is not None:
        packed[place] ^= 0x55
    path.write_bytes(packed)
    if what is None:
        assert read_svmlight(path).n_rows == 20_000
    else:
        with pytest.raises(InputError, match=re.escape(f"rows.zip is {what}")):
            read_svmlight(path)


def test_gzip_is_read_without_the_fast_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where ISA-L is not installed, the standard library unpacks the same bytes."""
    _without(monkeypatch, "isal")
    file = tmp_path / "rows.gz"
    file.write_bytes(gzip.compress(TEXT))
    assert _all(file) == TEXT


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the standard library has it")
def test_zstandard_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the package is missing, the error names it."""
    _without(monkeypatch, "backports.zstd")
    file = tmp_path / "rows.zst"
    file.write_bytes(sources.ZSTANDARD + b"rest")
    with pytest.raises(InputError, match=r"rows\.zst is packed .* pip install backports\.zstd\.$"):
        read_svmlight(file)


def _without(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    def find_spec(name: str) -> object:
        return None if name == missing else importlib.util.find_spec(name)

    monkeypatch.setattr(sources, "find_spec", find_spec)


@pytest.mark.parametrize("packer", PACKERS)
def test_standard_input_is_a_source(packer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dash reads standard input, packed or not, and names it so."""
    stdin = io.TextIOWrapper(io.BytesIO(PACKERS[packer](TEXT)))
    monkeypatch.setattr(sys, "stdin", stdin)
    rows = read_svmlight("-")
    assert rows.n_rows == 20_000
    assert rows.file == "standard input"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A missing file and a folder are errors in one sentence."""
    with pytest.raises(InputError, match=r"nowhere\.svm cannot be read: No such file or dir.*\.$"):
        read_svmlight(tmp_path / "nowhere.svm")
    with pytest.raises(InputError, match=r"cannot be read: Is a directory\.$"):
        read_svmlight(tmp_path)


def test_a_stream_that_does_not_wait_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """No data yet is not taken for the end of the data."""

    class NotYet(io.BytesIO):
        def readinto(self, _: object) -> None:  # type: ignore[override]
            return None

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(NotYet()))
    with pytest.raises(InputError, match="standard input does not wait for its data"):
        read_svmlight("-")


def test_a_path_is_as_good_as_a_name(tmp_path: Path) -> None:
    """Files are given by names or by paths, one or several."""
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for file in files:
        file.write_text("x\n")
    names = [str(file) for file in files]
    assert expand(files[0]) == expand(names[0]) == names[:1]
    assert expand(files) == expand([files[0], names[1]]) == expand(tmp_path / "*.csv") == names
