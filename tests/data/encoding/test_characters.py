"""N-grams of characters: compiled as defined, weighed as scikit-learn does, shown by name."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from rosenblatt import load
from rosenblatt.cli import main
from rosenblatt.data.encoding.text_column import scanned_ngrams
from rosenblatt.errors import InputError
from rosenblatt.kernels.text.hashing import SEED
from rosenblatt.models.model import Model
from rosenblatt.models.train import model_from_files
from rosenblatt.parameters import LONGEST_NGRAM
from tests.data.encoding.definition import plain_ngrams
from tests.data.encoding.fuzzing import spelled
from tests.data.encoding.naive import naive_text
from tests.data.encoding.test_text_column import EDGES, ROWS, WORD_MASK


@given(ROWS, st.integers(1, 4), st.integers(0, 8), st.sampled_from([WORD_MASK, 255]))
@example(rows=EDGES, shortest=3, more=9, mask=WORD_MASK)
def test_compiled_as_defined(rows: list[str | None], shortest: int, more: int, mask: int) -> None:
    """Keys, counts, order and spelling are the same, bit for bit."""
    lengths = shortest, shortest + more
    ours = scanned_ngrams(pl.Series(rows, dtype=pl.String), SEED, mask, lengths)
    defined = plain_ngrams(rows, SEED, mask, lengths)
    for one, other in zip(ours[:3], defined[:3], strict=True):
        np.testing.assert_array_equal(one, other)
    assert spelled(ours) == spelled(defined)


@given(ROWS, st.integers(1, 4), st.integers(0, 3))
@example(rows=EDGES, shortest=2, more=2)
@example(rows=["C++  \x1fC#\u3000a-b", "काला ที่ 👍🏽!", "E\u0301 É e"], shortest=3, more=2)
def test_ngrams_are_those_of_scikit_learn(rows: list[str | None], shortest: int, more: int) -> None:
    """They are what CountVectorizer(analyzer="char_wb") counts in lower-cased, composed text."""
    lengths = shortest, shortest + more
    ours = scanned_ngrams(pl.Series(rows, dtype=pl.String), SEED, WORD_MASK, lengths)
    names = [name.decode() for name in spelled(ours)]
    vectorizer = CountVectorizer(analyzer="char_wb", ngram_range=lengths, preprocessor=naive_text)
    counted = vectorizer.build_analyzer()
    for i, text in enumerate(rows):
        own = slice(ours.indptr[i], ours.indptr[i + 1])
        expected = Counter(counted(text or ""))
        assert dict(zip(names[own], ours.data[own].astype(int).tolist(), strict=True)) == expected


WORDS = [
    "going",
    "gone",
    "goes",
    "walking",
    "walked",
    "walks",
    "Straße",
    "東京都",
    "a",
    "1984",
    "C++",
    "e-mail",
]


def texts_file(folder: Path, n_rows: int = 60) -> tuple[str, list[str]]:
    """Write texts whose classes differ by the endings of words."""
    generator = np.random.default_rng(0)
    texts, lines = [], ["label,body"]
    for i in range(n_rows):
        ending = "ing" if i % 2 else "ed"
        stem = "".join(generator.choice(list("abcdefghij"), 5))
        text = f"{stem}{ending} {generator.choice(WORDS)} {generator.choice(WORDS)}"
        texts.append(text)
        lines.append(f"{'now' if i % 2 else 'then'},{text}")
    path = folder / "texts.csv"
    path.write_text("\n".join([*lines, ""]))
    return str(path), texts


def test_weights_are_those_of_scikit_learn(tmp_path: Path) -> None:
    """N-grams weigh what TfidfVectorizer(analyzer="char_wb") gives them, of length 1 together."""
    path, texts = texts_file(tmp_path)
    model = model_from_files(path, text="body", label="label", char_ngrams=(2, 4), word_pairs=False)
    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True)
    expected = vectorizer.fit_transform(texts).toarray()
    names = vectorizer.get_feature_names_out().tolist()
    batch = next(iter(model.rows(path)))
    assert model.encoder is not None
    values = np.zeros((len(texts), model.n_features))
    values[np.repeat(np.arange(len(texts)), np.diff(batch.indptr)), batch.indices] = batch.data
    mine = {model.encoder.name(k): k for k in range(model.n_features)}
    columns = [mine[f"characters '{name}'"] for name in names]
    np.testing.assert_allclose(values[:, columns], expected, atol=1e-6)


def test_endings_are_learned_and_shown(tmp_path: Path) -> None:
    """Endings of words never seen whole decide; weights names them; a file holds the encoding."""
    path, _ = texts_file(tmp_path, 200)
    model_path = str(tmp_path / "m.model")
    run = CliRunner()
    options = ["--label", "label", "--text", "body", "--char-ngrams", "3-4", "-o", model_path]
    done = run.invoke(main, ["train", path, *options])
    assert done.exit_code == 0, done.output
    new = tmp_path / "new.csv"
    new.write_text("body\nzzzzzing going\nyyyyyed going\n")
    assert run.invoke(main, ["predict", model_path, str(new)]).stdout.split() == ["now", "then"]
    assert "characters 'ing '" in run.invoke(main, ["weights", model_path]).stdout
    before, after = model_from_files(path, text="body", char_ngrams=(3, 4)), Model.load(model_path)
    np.testing.assert_array_equal(before.weights, after.weights)
    encoding: Any = load(model_path).encoding_
    assert encoding.settings.char_ngrams == (3, 4)
    hashed = model_from_files(path, text="body", char_ngrams=(3, 4), hash_bits=12)
    assert hashed.evaluate(path).error == 0.0
    crowded = model_from_files(path, text="body", char_ngrams=(3, 4), hash_bits=4)
    crowded.save(tmp_path / "crowded.model")  # numbers that terms of one text share
    again = Model.load(tmp_path / "crowded.model")
    assert again.evaluate(path).error == crowded.evaluate(path).error


def test_refusals(tmp_path: Path) -> None:
    """Lengths that are none are refused, in the words of Python and of the command."""
    path, _ = texts_file(tmp_path)
    for lengths in ((0, 2), (3, 2), (3, LONGEST_NGRAM + 1), "3-5"):
        with pytest.raises(InputError, match="char_ngrams must be the shortest and the longest"):
            model_from_files(path, text="body", char_ngrams=lengths)  # type: ignore[arg-type]
    done = CliRunner().invoke(main, ["train", path, "--char-ngrams", "5-3"])
    assert "'5-3' is not a range of lengths from 1 to 32; write for example 3-5" in done.stderr
