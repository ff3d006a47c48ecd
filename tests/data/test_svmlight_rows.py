from pathlib import Path

import pytest

from rosenblatt.data.svmlight import svmlight_batches
from rosenblatt.errors import InputError
from tests.data.reading import read_svmlight

WRONG = {
    "1 7:abc": "column 5: value 'abc' of feature 7 is not a number.",
    "1 7:1,5": "column 5: value '1,5' of feature 7 is not a number.",
    "1 7:0x10": "column 5: value '0x10' of feature 7 is not a number.",
    "1 7:1_000": "column 5: value '1_000' of feature 7 is not a number.",
    "1 7:1:2": "column 5: value '1:2' of feature 7 is not a number.",
    "1 7:\x00": r"column 5: value '\x00' of feature 7 is not a number.",
    "1 7:" + "x" * 99: f"column 5: value '{'x' * 40}…' of feature 7 is not a number.",
    "1 7:": "column 5: feature 7 has no value.",
    "1 7: 1": "column 5: feature 7 has no value.",
    "1 6:1 7:nan": "column 9: value 'nan' of feature 7 is not finite.",
    "1 7:-INF": "column 5: value '-INF' of feature 7 is not finite.",
    "1 7:1e400": "column 5: value '1e400' of feature 7 is beyond the range of float64.",
    "1 3:1 2:1 3:2": "column 11: feature 3 stands twice in this row.",
    "1 3:1 03:2": "column 7: feature 3 stands twice in this row.",
    "1 abc": "column 3: expected feature:value, found 'abc'.",
    "1 2 3:1": "column 3: expected feature:value, found '2'.",
    "1 x:1": "column 3: feature 'x' is not a whole number.",
    "1 -2:1": "column 3: feature '-2' is not a whole number.",
    "1 1.5:1": "column 3: feature '1.5' is not a whole number.",
    "1 :1": "column 3: feature '' is not a whole number.",
    "1 2:1 qid:1": "column 7: feature 'qid' is not a whole number.",
    "1 2147483648:1": (
        "column 3: feature '2147483648' is beyond 2147483647, the highest number there can be."
    ),
    "1 3:1 4294967301:1": (
        "column 7: feature '4294967301' is beyond 2147483647, the highest number there can be."
    ),
    "1 3:1 9999999999:1": (
        "column 7: feature '9999999999' is beyond 2147483647, the highest number there can be."
    ),
    "1 3:1 18446744073709551620:1": (
        "column 7: feature '18446744073709551620' is beyond 2147483647, the highest number there"
        " can be."
    ),
    "7:1 8:1": "column 1: expected a label, found '7:1'.",
    " \t nan 8:1": "column 4: label 'nan' is not finite.",
    "a\x01b 8:1": r"column 1: label 'a\x01b' has a control character.",
    "1 qid:x 2:1": "column 7: qid 'x' is not a whole number.",
    "1 qid:-1 2:1": "column 7: qid '-1' is not a whole number.",
    "1 qid: 2:1": "column 7: qid '' is not a whole number.",
    "1 qid:9223372036854775808": (
        "column 7: qid '9223372036854775808' is beyond 9223372036854775807."
    ),
    "été 7:abc": "column 7: value 'abc' of feature 7 is not a number.",
}


def _file(folder: Path, text: bytes) -> Path:
    file = folder / "data.svm"
    file.write_bytes(text)
    return file


@pytest.mark.parametrize("line", WRONG, ids=repr)
def test_errors_say_where_and_what(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence names the file, the line, the column, what stands there and what is wrong."""
    monkeypatch.chdir(tmp_path)
    _file(tmp_path, b"1 1:1\n# comment\n" + line.encode() + b"\n1 1:bad\n")
    for block_bytes in (1, 10, 1000):
        with pytest.raises(InputError) as raised:
            list(svmlight_batches("data.svm", zero_based=True, block_bytes=block_bytes))
        assert str(raised.value) == f"data.svm, line 3, {WRONG[line]}"


def test_a_label_that_is_not_text_is_an_error(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are shown, not guessed at."""
    with pytest.raises(InputError, match=r"line 2, column 1: label '\\xe9t' is not UTF-8 text\.$"):
        read_svmlight(_file(tmp_path, b"1 1:1\n\xe9t 1:1\n1 x\n"))


def test_feature_0_where_features_count_from_1_is_an_error(tmp_path: Path) -> None:
    """A file that was said to count from 1 must."""
    with pytest.raises(InputError, match=r"line 1, column 7: feature 0, where features count from"):
        read_svmlight(_file(tmp_path, b"1 2:1 0:1\n"), zero_based=False)


def test_rows_before_the_bad_block_arrive(tmp_path: Path) -> None:
    """What was good is handed over before the error is raised."""
    batches = svmlight_batches(_file(tmp_path, b"1 1:1\n1 1:2\n1 1:x\n"), block_bytes=6)
    assert [next(batches).data.tolist(), next(batches).data.tolist()] == [[1.0], [2.0]]
    with pytest.raises(InputError, match="line 3, column 5"):
        next(batches)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"block_bytes": 0}, "block_bytes must be at least 1; got 0."),
        ({"threads": 0}, "threads must be at least 1; got 0."),
    ],
)
def test_options_that_cannot_be_are_errors(options: dict[str, object], sentence: str) -> None:
    """A wrong option is reported before the file is opened."""
    with pytest.raises(InputError, match=f"^{sentence}$"):
        svmlight_batches("nowhere", **options)  # type: ignore[arg-type]
