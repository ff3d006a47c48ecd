import gzip
import io
import os
import sys
import threading
from pathlib import Path

import polars as pl
import pytest

from rosenblatt.data.files import table_batches
from rosenblatt.data.formats import Format, detect_format
from rosenblatt.data.sources import opened, peek
from rosenblatt.data.svmlight import svmlight_batches
from rosenblatt.errors import InputError
from tests.data.reading import read_svmlight

BY_LINES = {
    b'{"a": 1}\n': Format.JSON_LINES,
    b'\xef\xbb\xbf\n  {"a": 1}\n': Format.JSON_LINES,
    b"1 3:0.5 7:1\n-1 2:1\n": Format.SVMLIGHT,
    b"# made by hand\nspam qid:3 1:2 # why\n\nham\n": Format.SVMLIGHT,
    b"1\n2\n": Format.CSV,
    b"spam\tfree\nham\tlunch at 12:30\n": Format.TSV,
    b"a\tb\n\nc\td": Format.TSV,
    b"a\tb\nc\n": Format.CSV,
    b"a,b\n1,2\n": Format.CSV,
    b"a;b\n1;2\n": Format.CSV,
    b"time,what\n1 12:30,x\n": Format.CSV,
    b"": Format.CSV,
}


@pytest.mark.parametrize("text", BY_LINES)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_file_without_a_telling_name_is_known_by_its_lines(
    text: bytes, pack: type[bytes], tmp_path: Path
) -> None:
    """Packed or not, the first lines tell the format."""
    file = tmp_path / "rows.txt"
    file.write_bytes(pack(text))
    assert detect_format(file) == BY_LINES[text]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", Format.CSV),
        ("a.CSV.GZ", Format.CSV),
        ("a.b.tsv.zst", Format.TSV),
        ("a.svm", Format.SVMLIGHT),
        ("a.libsvm.gz", Format.SVMLIGHT),
        ("a.ndjson", Format.JSON_LINES),
        ("a.json", Format.JSON_LINES),
        ("a.parquet", Format.PARQUET),
        ("a.feather", Format.ARROW),
    ],
)
def test_the_suffix_tells_the_format(name: str, expected: Format, tmp_path: Path) -> None:
    """A name with a known suffix is believed, also in front of .gz and .zst."""
    (tmp_path / name).write_bytes(b"x|y\n")
    assert detect_format(tmp_path / name) == expected


def test_the_first_bytes_are_believed_before_the_name(tmp_path: Path) -> None:
    """Parquet and Arrow are known whatever they are called, and Feather 1 is refused."""
    frame, file = pl.DataFrame({"a": [1]}), tmp_path / "rows.csv"
    frame.write_parquet(file)
    assert detect_format(file) == Format.PARQUET
    frame.write_ipc(file)
    assert detect_format(file) == Format.ARROW
    frame.write_ipc_stream(file)
    assert detect_format(file) == Format.ARROW
    file.write_bytes(gzip.compress(b"PAR1..."))
    assert detect_format(file) == Format.PARQUET
    file.write_bytes(b"FEA1....")
    with pytest.raises(InputError, match=r"rows\.csv is Feather version 1; write it again"):
        detect_format(file)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    """A file that is not there is named."""
    with pytest.raises(InputError, match=r"nowhere\.csv cannot be read: No such file"):
        detect_format(tmp_path / "nowhere.csv")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_no_byte_of_standard_input_is_lost(
    pack: type[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a look at standard input, twice even, whoever opens it reads from its first byte on."""
    text = b"".join(b"%d 1:%d 7:0.5\n" % (k % 2, k) for k in range(20_000))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pack(text))))
    assert detect_format("-") == Format.SVMLIGHT
    assert peek("-", 9) == text[:9]
    rows = read_svmlight("-")
    assert rows.n_rows == 20_000
    assert rows.data.sum() == sum(range(20_000)) + 10_000


def test_another_standard_input_is_not_taken_for_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was seen of one standard input does not come out of the next."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\n")))
    assert peek("-") == b"one\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"two\n")))
    with opened("-") as stream:
        buffer = bytearray(10)
        assert buffer[: stream.readinto(memoryview(buffer))] == b"two\n"


def test_a_look_at_standard_input_need_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked to be prompt, the first line decides, and its row comes while the pipe is open."""
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        os.write(writing, b"1 1:1\n1 2")
        assert detect_format("-", prompt=True) == Format.SVMLIGHT
        batches = svmlight_batches("-", zero_based=True, prompt=True)
        assert next(batches).indices.tolist() == [1]
        os.write(writing, b":1\n")
        os.close(writing)
        assert next(batches).indices.tolist() == [2]


def test_a_named_pipe_is_read_once_and_wholly(tmp_path: Path) -> None:
    """Of a pipe with a name, as shells make them for <(…), nothing is lost by the look at it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("label,x\na,1\nb,2\n",))
    writer.start()
    (table,) = table_batches(pipe)
    writer.join()
    assert table.frame.to_dict(as_series=False) == {"label": ["a", "b"], "x": ["1", "2"]}
