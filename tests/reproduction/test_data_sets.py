"""The data sets, and what is said where they are not there."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reproduction.data_sets import (
    DIGIT_PAIRS,
    SETS,
    VARIABLE,
    DataFolder,
    DataSet,
    MissingDataError,
    read_idx,
    standardised,
)
from rosenblatt.errors import InputError


def test_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the variable, and where it names no folder, a sentence says what to do."""
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(InputError, match=r"ROSENBLATT_DATA is not set.*set it to the folder"):
        DataFolder.from_environment()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    with pytest.raises(InputError, match="none, which is no folder"):
        DataFolder.from_environment()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A set whose file is missing says which."""
    with pytest.raises(MissingDataError, match=r"has no file svmguide3\.svm\.gz"):
        DataFolder(tmp_path).read("svmguide3")
    with pytest.raises(MissingDataError, match="has no file mnist/train-images"):
        DataFolder(tmp_path).digits()


def test_a_table_of_our_own(tmp_path: Path) -> None:
    """Numbers, categories and labels of a table without a header become rows and labels."""
    (tmp_path / "small").mkdir()
    lines = [
        f"{k % 11}.5,{k % 3}.25,{k % 7},{-(k % 5)},{'Iris-setosa' if k % 2 else 'other'}\n"
        for k in range(40)
    ]
    (tmp_path / "small" / "iris.csv").write_text("".join(lines))
    data = DataFolder(tmp_path).read("iris")
    assert data.X.shape == (40, 4)
    np.testing.assert_array_equal(data.X[3], [3.5, 0.25, 3.0, -3.0])
    assert data.y[:2].tolist() == ["other", "Iris-setosa"]
    assert data.n_train is None


def test_texts_are_counts_of_words(tmp_path: Path) -> None:
    """Words of letters and digits in lower case are counted as they are, whatever train does."""
    lines = ["ham\tOne two, two!\n", "spam\tit's 2nd_class ONE\n"]
    (tmp_path / "sms_spam.tsv.gz").write_text("".join(lines))
    data = DataFolder(tmp_path).read("sms_spam")
    # 2nd, class, it, one, s, two
    np.testing.assert_array_equal(data.X.toarray(), [[0, 0, 0, 1, 0, 2], [1, 1, 1, 1, 1, 0]])
    assert data.y.tolist() == ["ham", "spam"]


def test_tables_are_standardised_numbers_and_indicators(tmp_path: Path) -> None:
    """Numbers are standardised by the training file, and a category of it is an indicator each."""
    (tmp_path / "adult.train.csv.gz").write_text("1, red, <=50K\n3, ?, >50K\n\n")
    (tmp_path / "adult.test.csv.gz").write_text("4, blue, >50K.\n")
    data = DataFolder(tmp_path).read("adult")
    np.testing.assert_array_equal(data.X.toarray(), [[-1, 0, 1], [1, 1, 0], [2, 0, 0]])
    assert (data.y.tolist(), data.n_train) == (["<=50K", ">50K", ">50K"], 2)


def test_splits() -> None:
    """Without a test file every seed splits anew, three tenths held out and no row in both."""
    X = np.arange(40.0).reshape(20, 2)
    data = DataSet(X, np.arange(20) % 2)
    one, other = data.problem(0), data.problem(1)
    assert (len(one.y_train), len(one.y_test)) == (14, 6)
    seen = np.concatenate([one.X_train, one.X_test])
    np.testing.assert_array_equal(seen[seen[:, 0].argsort()], X)
    assert not np.array_equal(one.X_test, other.X_test)
    np.testing.assert_array_equal(one.X_test, data.problem(0).X_test)
    np.testing.assert_array_equal(one.y_train, 2 * (one.X_train[:, 0] // 2 % 2) - 1)


def test_files_say_the_split() -> None:
    """With a test file its rows are held out, whatever the seed."""
    data = DataSet(np.arange(12.0).reshape(6, 2), np.array(["a", "b"] * 3), n_train=4)
    for seed in (0, 1):
        np.testing.assert_array_equal(data.problem(seed).X_test, data.X[4:])
    np.testing.assert_array_equal(data.problem(0).y_test, [-1, 1])
    np.testing.assert_array_equal(data.training()[0], data.X[:4])


def test_fewer_held_out_rows() -> None:
    """So many held-out rows are drawn by the seed, with their targets; fewer stay as they are."""
    X = np.arange(20.0).reshape(20, 1)
    problem = DataSet(X, np.arange(20) % 2, n_train=10).problem(0)
    drawn = problem.with_fewer_held_out(4, 1)
    assert len(set(drawn.X_test.ravel().tolist())) == 4
    np.testing.assert_array_equal(drawn.y_test, 2 * (drawn.X_test.ravel() % 2) - 1)
    assert problem.with_fewer_held_out(10, 1) is problem


def test_standardised_by_the_rows_learned_from() -> None:
    """Held-out rows are scaled by the mean and deviation of the others; constants stay finite."""
    X_train, X_test = np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([[4.0, 6.0]])
    train, test = standardised(X_train, X_test)
    np.testing.assert_array_equal(train, [[-1, 0], [1, 0]])
    np.testing.assert_array_equal(test, [[2, 1]])


@pytest.mark.data
def test_real_sets(data_folder: Path) -> None:
    """Every set is read, with the rows of its index and two classes or more on either side."""
    n_rows = {"a9a": 48842, "adult": 48842, "imdb": 50000, "mushrooms": 8124, "sms_spam": 5574}
    n_train = {"a9a": 32561, "adult": 32561, "imdb": 25000, "mushrooms": 6513}
    folder = DataFolder(data_folder)
    for name in SETS:
        data = folder.read(name)
        assert data.X.shape[0] == n_rows.get(name, data.X.shape[0]), name
        assert data.n_train == n_train.get(name), name
        problem = data.problem(0)
        assert set(problem.y_test) <= set(problem.y_train), name
        assert 2 <= problem.n_classes <= 3, name


@pytest.mark.data
def test_real_digits(data_folder: Path) -> None:
    """The digits have their known numbers, and pairs hold two of them."""
    folder = DataFolder(data_folder)
    digits = folder.digits()
    assert (digits.X.shape, digits.n_train) == ((70000, 784), 60000)
    assert np.bincount(digits.y[:60000]).tolist()[:3] == [5923, 6742, 5958]
    pair = folder.read("MNIST 3/5")
    assert set(pair.y.tolist()) == set(DIGIT_PAIRS["MNIST 3/5"])
    assert pair.n_train == int(np.isin(digits.y[:60000], (3, 5)).sum())


def idx_bytes(array: np.ndarray, kind: int = 8) -> bytes:
    """Return an array of bytes as an IDX file."""
    sizes = np.array(array.shape, ">u4").tobytes()
    return bytes([0, 0, kind, array.ndim]) + sizes + array.tobytes()


@given(arrays(np.uint8, st.lists(st.integers(0, 5), min_size=1, max_size=4).map(tuple)))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, array: np.ndarray
) -> None:
    """Arrays of any shape come back, packed and not."""
    path = tmp_path_factory.mktemp("idx") / "a"
    for data in (idx_bytes(array), gzip.compress(idx_bytes(array))):
        path.write_bytes(data)
        np.testing.assert_array_equal(read_idx(path), array)


WHOLE = idx_bytes(np.arange(6, dtype=np.uint8).reshape(2, 3))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "no IDX file"),
        (b"P5 28 28", "no IDX file: it begins with"),
        (idx_bytes(np.zeros(2, np.uint8), kind=0x0D), "type 0x0d; only bytes"),
        (WHOLE[:7], "ends within its header"),
        (WHOLE[:-1], "holds 5 values; its header promises 6"),
        (WHOLE + b"\0", "goes on after the 6 values"),
        (bytes([0, 0, 8, 0]), "which cannot be"),
        (bytes([0, 0, 8, 2]) + b"\xff" * 8, "which cannot be"),
        (gzip.compress(WHOLE, mtime=0)[:-9], "is damaged"),
    ],
)
def test_bad_files(tmp_path: Path, data: bytes, told: str) -> None:
    """A file that is none, cut off or too long is refused, with its name and the reason."""
    path = tmp_path / "digits.idx"
    path.write_bytes(data)
    with pytest.raises(InputError, match=told) as caught:
        read_idx(path)
    assert "digits.idx" in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    """A file that is not there is named."""
    with pytest.raises(InputError, match="digits cannot be read"):
        read_idx(tmp_path / "digits")
