import gzip
import os
import sys
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.batch import Batch, join
from rosenblatt.data.labels import Classes
from rosenblatt.data.svmlight import svmlight_batches
from rosenblatt.errors import InputError
from tests.data.fuzzing import fuzz
from tests.data.naive import NaiveRow, naive_rows
from tests.data.reading import read_svmlight
from tests.processes import printed

digits = st.text("0123456789", min_size=1, max_size=25)
blanks = st.sampled_from([" ", "  ", "\t", " \t "])


@st.composite
def numbers(draw: st.DrawFn) -> str:
    """Return a decimal number in any of its forms."""
    text = draw(st.sampled_from(["", "-", "+"])) + draw(digits)
    if draw(st.booleans()):
        text += "." + draw(st.one_of(st.just(""), digits))
    if draw(st.integers(0, 3)) == 0:
        text += draw(st.sampled_from(["e", "E", "e+", "e-"])) + str(draw(st.integers(0, 280)))
    return text


@st.composite
def lines(draw: st.DrawFn) -> str:
    """Return a good line: a row, a comment or nothing, with any blanks that are allowed."""
    comment = draw(st.sampled_from(["", "", "# 1:1 x", "#"]))
    if draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from(["", " ", "\r"])) + comment
    label = draw(st.sampled_from(["1", "+1", "1.0", "-1", "0", "2.50", "spam", "été", "1,2", "-"]))
    tokens = [label]
    if draw(st.integers(0, 3)) == 0:
        tokens.append(f"qid:{draw(st.integers(0, 2**63 - 1))}")
    features = draw(st.lists(st.integers(0, 2**31 - 1) | st.integers(0, 9), unique=True))
    tokens += [f"{feature}:{draw(numbers())}" for feature in features]
    return draw(blanks).join(tokens) + draw(st.sampled_from(["", " ", "\t\r", "\r"])) + comment


texts = st.builds(
    lambda rows, end: "\n".join(rows) + end,
    st.lists(lines(), max_size=12),
    st.sampled_from(["", "\n"]),
)


def _rows(batches: list[Batch], base: int = 0) -> list[NaiveRow]:
    """Return rows as the naive parser gives them."""
    rows = []
    for batch in batches:
        for i in range(batch.n_rows):
            span = slice(batch.indptr[i], batch.indptr[i + 1])
            entries = zip(batch.indices[span].tolist(), batch.data[span].tolist(), strict=True)
            label = batch.classes[batch.labels[i]]
            rows.append(NaiveRow(label, [(j + base, value) for j, value in entries]))
    return rows


def _file(folder: Path, text: str | bytes) -> Path:
    file = folder / "rows.svm"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that all examples of a property may write to."""
    return tmp_path_factory.mktemp("svmlight")


@given(text=texts, block_bytes=st.integers(1, 200), threads=st.integers(1, 3), prompt=st.booleans())
def test_batches_hold_what_the_naive_parser_reads(
    folder: Path, text: str, block_bytes: int, threads: int, prompt: bool
) -> None:
    """For any good file, cut anywhere, by any number of threads, the rows are those of the text."""
    file = _file(folder, text)
    batches = list(
        svmlight_batches(
            file, zero_based=True, block_bytes=block_bytes, threads=threads, prompt=prompt
        )
    )
    assert _rows(batches) == naive_rows(text.encode())
    for batch in batches:
        assert batch.n_rows > 0
        assert batch.n_features == max(batch.indices.tolist(), default=-1) + 1
        assert batch.indices.dtype == batch.labels.dtype == np.int32
        assert batch.indptr.dtype == np.int64
        part = text.split("\n")[batch.first_line - 1 : batch.first_line - 1 + batch.n_lines]
        assert _rows([batch]) == naive_rows("\n".join(part).encode())


@given(text=texts)
def test_a_whole_file_is_its_batches_joined(folder: Path, text: str) -> None:
    """Reading all at once gives the same arrays as joining the batches."""
    file = _file(folder, text)
    whole = read_svmlight(file, zero_based=True)
    batches = list(svmlight_batches(file, zero_based=True, block_bytes=20))
    assert _rows([whole]) == _rows(batches)
    if batches:
        joined = join(batches)
        assert _rows([joined]) == _rows(batches)
        assert joined.n_features == whole.n_features
        assert joined.classes == whole.classes


def test_mutated_files_never_give_a_wrong_row() -> None:
    """The compiled, the plain and the naive parser agree on every accident that befell a file."""
    assert fuzz(1000, seed=0) > 100


@pytest.mark.explore
def test_many_mutated_files_never_give_a_wrong_row(random_seed: int) -> None:
    """They agree on every one of many more."""
    assert fuzz(300_000, random_seed) > 30_000


@pytest.mark.parametrize(
    ("text", "zero_based", "indices"),
    [
        ("1 1:1 3:1\n", False, [0, 2]),
        ("1 1:1 3:1\n1 0:1\n", True, [1, 3, 0]),
        ("1\n", True, []),
    ],
)
def test_the_first_feature_is_found_out(
    text: str, zero_based: bool, indices: list[int], tmp_path: Path
) -> None:
    """A file in which a feature 0 stands counts from 0, any other from 1."""
    file = _file(tmp_path, text)
    (batch,) = svmlight_batches(file)
    for found in (batch, read_svmlight(file)):
        assert found.indices.tolist() == indices
        assert found.zero_based == zero_based
        assert found.n_features == max(indices, default=-1) + 1


def test_the_first_feature_can_be_told(tmp_path: Path) -> None:
    """Whoever knows from where a file counts is believed."""
    file = _file(tmp_path, "1 1:1 3:1\n")
    assert read_svmlight(file, zero_based=True).indices.tolist() == [1, 3]
    assert read_svmlight(file, zero_based=False).indices.tolist() == [0, 2]
    assert next(svmlight_batches(file, zero_based=True)).n_features == 4


def test_a_feature_0_that_comes_late_is_an_error(tmp_path: Path) -> None:
    """Rows that were shifted by one already are never followed by rows that are not."""
    file = _file(tmp_path, "1 1:1\n1 3:1\n1 2:1 0:5\n")
    batches = svmlight_batches(file, block_bytes=6)
    assert next(batches).indices.tolist() == [0]
    assert next(batches).indices.tolist() == [2]
    with pytest.raises(InputError, match=r"line 3, column 7: feature 0, but .*zero_based=True"):
        next(batches)
    assert read_svmlight(file).indices.tolist() == [1, 3, 0, 2]


def test_classes_keep_their_numbers_in_all_batches_and_files(tmp_path: Path) -> None:
    """A class has one number, however its label is written and wherever it stands."""
    file = _file(tmp_path, "+1 1:1\nspam\n1.0 2:1\nham\n1\n")
    classes = Classes(["ham"])
    batches = list(svmlight_batches(file, block_bytes=8, classes=classes))
    assert np.concatenate([batch.labels for batch in batches]).tolist() == [1, 2, 1, 0, 1]
    assert batches[-1].classes == classes.labels == ("ham", "1", "spam")
    whole = read_svmlight(file, classes=classes)
    assert whole.labels.tolist() == [1, 2, 1, 0, 1]
    assert whole.label_values().tolist() == ["1", "spam", "1", "ham", "1"]


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [("-1\n+1\n", np.int64, [-1, 1]), ("0.5\n1\n", np.float64, [0.5, 1.0])],
)
def test_labels_that_are_numbers_come_back_as_numbers(
    text: str, kind: type, values: list[float], tmp_path: Path
) -> None:
    """Numeric classes give an array of numbers."""
    found = read_svmlight(_file(tmp_path, text)).label_values()
    assert found.dtype == kind
    assert found.tolist() == values


def test_queries_are_passed_over(tmp_path: Path) -> None:
    """A qid, the number of the query that a row belongs to, is no feature."""
    file = _file(tmp_path, "1 qid:7 1:1\n1\n1 qid:9223372036854775807\n")
    rows = read_svmlight(file, zero_based=True)
    assert (rows.indices.tolist(), rows.indptr.tolist()) == ([1], [0, 1, 1, 1])


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    """Nothing but comments gives no batch, and a whole of no rows."""
    file = _file(tmp_path, "# nothing\n\n")
    assert list(svmlight_batches(file)) == []
    whole = read_svmlight(file)
    assert (whole.n_rows, whole.n_features, whole.indptr.tolist()) == (0, 0, [0])
    assert read_svmlight(_file(tmp_path, "")).label_values().tolist() == []


SETS = ("a9a", "a9a.test", "w8a", "svmguide3", "rcv1_small", "rcv1_small.test", "mushrooms")


@pytest.mark.data
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("threads", [1, 3])
def test_real_files_are_read_as_scikit_learn_reads_them(
    name: str, threads: int, data_folder: Path
) -> None:
    """Rows, labels and features are those of load_svmlight_file, bit for bit."""
    from sklearn.datasets import load_svmlight_file

    file = data_folder / f"{name}.svm.gz"
    X, y = load_svmlight_file(str(file))
    batches = list(svmlight_batches(file, block_bytes=1 << 16, threads=threads))
    for rows in (join(batches), read_svmlight(file, threads=threads)):
        assert rows.data.tobytes() == X.data.tobytes()
        assert np.array_equal(rows.indices, X.indices)
        assert np.array_equal(rows.indptr, X.indptr)
        assert np.array_equal(rows.label_values(), y)
        assert rows.n_features == X.shape[1]
        assert rows.bytes_read == file.stat().st_size


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """A file four times as long takes no more memory."""
    rows = "".join(f"{k % 3} {k + 1}:0.5 {k + 70}:1\n" for k in range(60_000)).encode()
    peaks = []
    for times in (4, 16):
        file = tmp_path / "rows.gz"
        file.write_bytes(b"".join(gzip.compress(rows, 1) for _ in range(times)))
        tracemalloc.start()
        for _ in svmlight_batches(file, block_bytes=1 << 17, threads=2):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]
    assert peaks[1] < len(rows) * 4


@pytest.mark.parametrize("plain", ["0", "1"])
def test_files_are_read_with_and_without_machine_code(plain: str, tmp_path: Path) -> None:
    """Where nothing is compiled or loaded, files are read all the same."""
    file = tmp_path / "rows.svm"
    file.write_text("1 3:0.5 7:1e-3\n" * 1_000)
    program = (
        "import sys; from rosenblatt.data.svmlight import svmlight_batches;"
        "(rows,) = svmlight_batches(sys.argv[1]);"
        "print(rows.n_rows, rows.data.sum() / rows.n_rows, 'llvmlite' in sys.modules)"
    )
    answer = printed(program, str(file), ROSENBLATT_PLAIN=plain).split()
    assert answer[0] == "1000"
    assert float(answer[1]) == pytest.approx(0.501)
    assert answer[2] == str(plain == "0")


def test_rows_arrive_while_standard_input_is_still_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked to be prompt, a batch comes for the lines that are there, without waiting for more."""
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        batches = svmlight_batches("-", zero_based=True, prompt=True)
        os.write(writing, b"1 1:1\n1 2")
        assert next(batches).indices.tolist() == [1]
        os.write(writing, b":1\n2\n")
        assert next(batches).n_rows == 2
        os.close(writing)
        assert list(batches) == []


def test_leaving_early_leaves_nothing_behind(tmp_path: Path) -> None:
    """Whoever stops after the first batch leaves neither a thread nor an open file."""
    file = tmp_path / "rows.svm"
    file.write_text("1 1:1\n" * 10_000)
    before = set(threading.enumerate())
    for _ in range(5):
        for _batch in svmlight_batches(file, block_bytes=100, threads=2):
            break
    for thread in set(threading.enumerate()) - before:
        thread.join()  # for ever, if one of them stayed
