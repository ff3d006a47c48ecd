"""Words weighed by how common they are, from the first reading to the model file and back."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from rosenblatt.data.encoding import TableEncoding, encoding_from
from rosenblatt.data.files import Columns, Files, Layout, TrainingFiles, encoded
from rosenblatt.errors import InputError
from rosenblatt.training.streaming import Reading
from tests.data.encoding.naive import naive_counts

TEXTS = [
    "the cat sat on the mat",
    "the dog sat on the log",
    "a cat and a dog",
    "Cats, dogs and logs",
    "",
    "the end of the log",
]


def written(folder: Path, texts: list[str]) -> Path:
    """Write the texts as a table with a label."""
    path = folder / "texts.tsv"
    lines = [f"{'ab'[k % 2]}\t{text}\n" for k, text in enumerate(texts)]
    path.write_text("label\ttext\n" + "".join(lines))
    return path


def trained(path: Path, **columns: object) -> tuple[TableEncoding, sparse.csr_matrix]:
    """Read a file to learn from; return the encoding and the rows."""
    asked = Columns(label="label", text=("text",), **columns)  # type: ignore[arg-type]
    source = TrainingFiles(Files([str(path)], Layout()), asked)
    blocks = [*source.batches()]
    batches = [source.encoded(block) for block in blocks]
    encoding = source.encoding
    assert isinstance(encoding, TableEncoding)
    parts = [
        sparse.csr_matrix((b.data, b.indices, b.indptr), shape=(b.n_rows, encoding.n_features))
        for b in batches
    ]
    return encoding, sparse.vstack(parts).tocsr()


def by_scikit_learn(texts: list[str], min_df: int) -> tuple[list[str], sparse.csr_matrix]:
    """Return terms and rows as TfidfVectorizer makes them, with our words."""
    vectorizer = TfidfVectorizer(
        analyzer=lambda text: list(Counter(naive_counts(text)).elements()),
        sublinear_tf=True,
        min_df=min_df,
    )
    rows = vectorizer.fit_transform(texts)
    return vectorizer.get_feature_names_out().tolist(), rows


@pytest.mark.parametrize("min_count", [1, 2, 3])
def test_the_rows_are_those_of_scikit_learn(tmp_path: Path, min_count: int) -> None:
    """Terms, the floor on their count and their weights are those of TfidfVectorizer."""
    encoding, rows = trained(written(tmp_path, TEXTS), min_count=min_count)
    names, expected = by_scikit_learn(TEXTS, min_count)
    ours = encoding.names(range(encoding.n_features))
    assert sorted(ours) == sorted(names)
    order = [ours.index(name) for name in names]
    np.testing.assert_allclose(rows[:, order].toarray(), expected.toarray(), atol=1e-6)


def test_few_rows_keep_every_word(tmp_path: Path) -> None:
    """Below a thousand rows, and in short texts, a word that one text has is a feature.

    Else two must have it.
    """
    long = "the cat is one of " + " ".join(f"animal{k}" for k in range(60))  # 65 words and 64 pairs
    for more, kept in (([], True), ([long] * 1000, False), (["the cat"] * 1000, True)):
        encoding, _ = trained(written(tmp_path, [*TEXTS, *more]))
        names = encoding.names(range(encoding.n_features))
        assert ("mat" in names) == kept
        assert "cat" in names
        encoding, _ = trained(written(tmp_path, [*TEXTS, *more]), min_count=2)
        assert "mat" not in encoding.names(range(encoding.n_features))


@pytest.mark.parametrize("hash_bits", [None, 10])
def test_a_stored_encoding_weighs_the_same(tmp_path: Path, hash_bits: int | None) -> None:
    """What a model file keeps gives the same rows, bit for bit, names or hashes."""
    path = written(tmp_path, TEXTS)
    encoding, rows = trained(path, hash_bits=hash_bits)
    stored = encoding_from(encoding.as_json(), encoding.arrays())
    (batch,) = encoded(Files([str(path)], Layout()), stored, ("a", "b"))
    assert np.array_equal(batch.data, rows.data)
    assert np.array_equal(batch.indices, rows.indices)


@pytest.mark.parametrize("hash_bits", [None, 10])
def test_rows_are_the_same_from_memory_and_from_files(
    tmp_path: Path, hash_bits: int | None
) -> None:
    """Blocks that do not fit into memory are kept in files, and encoded as those that do."""
    path = written(tmp_path, [f"{TEXTS[k % 6]} x{k} y{k} z{k}" for k in range(240)])
    columns = Columns(label="label", text=("text",), hash_bits=hash_bits, min_count=2)
    found = []
    for n_bytes in (1 << 20, 30_000, 1_000):
        source = TrainingFiles(Files([str(path)], Layout()), columns)
        reading = Reading(source, keep=True, block_bytes=n_bytes)
        reading.read_on()
        in_files = reading.rows is not None
        reading.encode()
        found.append((in_files, reading.rows is not None, reading.kept))
    (_, _, rows), *others = found
    # Without the words that one text has the rows fit into memory; a hash knows of none
    ways = [(False, False), (True, hash_bits is not None), (True, True)]
    assert [one[:2] for one in found] == ways
    for _, _, again in others:
        assert np.array_equal(again.data, rows.data)
        assert np.array_equal(again.indices, rows.indices)
        assert np.array_equal(again.labels, rows.labels)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("term_documents", np.full(3, 1, np.int32)),
        ("term_documents", np.full(1000, -1, np.int32)),
        ("term_documents", None),
    ],
)
def test_damaged_counts_are_noticed(tmp_path: Path, name: str, array: object) -> None:
    """Counts of another length, below zero or missing are an error."""
    encoding, _ = trained(written(tmp_path, TEXTS))
    arrays = encoding.arrays() | {name: array}
    with pytest.raises(InputError, match="The encoding of this model is damaged"):
        encoding_from(encoding.as_json(), arrays)  # type: ignore[arg-type]
