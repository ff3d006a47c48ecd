"""Files that the workers read: the model of one process that reads them one after the other."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from distributed import Client

from rosenblatt import load
from rosenblatt.data.encoding import EncodingFit
from rosenblatt.data.files import Columns, Files, Layout, TrainingFiles
from rosenblatt.distributed import DaskAveragedPerceptron
from rosenblatt.distributed.files import merged_terms
from rosenblatt.errors import InputError
from rosenblatt.models.learner import Learner
from rosenblatt.rules import Perceptron
from rosenblatt.training.loop import Plan
from rosenblatt.training.streaming import Sampling, StreamFit, fit_stream

WORDS = ["ape", "bat", "cow", "doe", "elk", "fox", "gnu", "hen", "ibis", "jay", "kiwi", "lynx"]


def frame(n_rows: int, seed: int = 0) -> pl.DataFrame:
    """Return a table with numbers, gaps, categories, texts and labels."""
    rng = np.random.default_rng(seed)
    size = rng.normal(50, 20, n_rows)
    texts = [" ".join(rng.choice(WORDS[: 4 + k * 8 // n_rows], 6)) for k in range(n_rows)]
    kinds = rng.choice(["wood", "hill", "lake"], n_rows)
    noisy = size / 20 + (kinds == "lake") + np.array([text.count("cow") for text in texts])
    return pl.DataFrame(
        {
            "size": [None if k % 17 == 3 else value for k, value in enumerate(size.tolist())],
            "place": kinds,
            "note": texts,
            "label": np.where(noisy + rng.normal(0, 0.5, n_rows) > 4, "tame", "wild"),
        }
    )


def written(folder: Path, form: str, n_parts: int = 4) -> list[str]:
    """Write the parts of a data set in this form, unequal ones, and return their names."""
    table, ends = frame(400), np.array([0, 40, 180, 230, 400])[: n_parts + 1]
    names = []
    for k in range(n_parts):
        part, name = table[int(ends[k]) : int(ends[k + 1])], folder / f"part-{k}.{form}"
        if form == "parquet":
            part.write_parquet(name)
        elif form == "vectors.parquet":
            size = pl.col("size")
            part.with_columns(v=pl.concat_list(size.fill_null(7), size.is_null())).write_parquet(
                name
            )
        elif form == "csv.gz":
            name.write_bytes(gzip.compress(part.write_csv().encode()))
        else:
            lines = (
                f"{label} " + " ".join(f"{j + 1}:{v:.4f}" for j, v in sorted(enumerate(values)))
                for label, values in zip(
                    part["label"], part.select(pl.col("size").fill_null(0) / 50).rows(), strict=True
                )
            )
            name.write_text("\n".join(lines) + "\n")
        names.append(str(name))
    return names


def serial(names: list[str], columns: Columns) -> tuple[StreamFit, Any]:
    """Return what one process makes of the files."""
    source = TrainingFiles(Files(names, Layout()), columns)
    draw = Sampling(np.random.default_rng(0), shuffle=False)
    plan = Plan(Perceptron(), 3, shuffle=False)
    trained = fit_stream(source, plan, draw, start=Learner().start)
    return trained, source.encoding


@pytest.mark.parametrize(
    ("form", "columns"),
    [
        ("svm", Columns()),
        ("parquet", Columns(text=("note",), min_count=30)),
        ("vectors.parquet", Columns(ignore=("size",))),
        ("csv.gz", Columns(text=("note",), hash_bits=8)),
    ],
)
def test_one_shard_is_one_process(
    client: Client, tmp_path: Path, form: str, columns: Columns
) -> None:
    """Workers that read parts number and scale features as one process that reads them all."""
    names = written(tmp_path, form)
    clf = DaskAveragedPerceptron(client=client, n_shards=1, max_iter=3, shuffle=False)
    clf.fit_files(str(tmp_path / f"part-*.{form}"), columns=columns)
    trained, encoding = serial(names, columns)
    trained.state.widen(encoding.n_features)
    found = np.append(clf.coef_[0], clf.intercept_)
    np.testing.assert_allclose(found, trained.state.average(), rtol=1e-9, atol=1e-12)
    assert clf.classes_.tolist() == ["tame", "wild"]
    assert [r.mistakes for r in clf.history_] == [r.mistakes for r in trained.outcome.history]
    mine = clf.encoding_
    assert mine.n_features == encoding.n_features
    every = range(encoding.n_features)
    assert mine.names(every) == encoding.names(every)
    clf.save(tmp_path / "animals.model")
    loaded = load(tmp_path / "animals.model")
    assert np.array_equal(loaded.coef_, clf.coef_)
    assert loaded.encoding_.names(every) == encoding.names(every)


def test_shards_are_cut_by_rows_not_by_files(client: Client, tmp_path: Path) -> None:
    """The same rows in one file and in four give the same bits with three shards."""
    names = written(tmp_path, "svm")
    whole = tmp_path / "whole.svm"
    whole.write_text("".join(Path(name).read_text() for name in names))
    found = []
    for paths in (names, [str(whole)]):
        clf = DaskAveragedPerceptron(client=client, n_shards=3, early_stopping=True, max_iter=4)
        clf.fit_files(paths)
        found.append(clf.coef_)
    assert np.array_equal(*found)


def test_statistics_of_parts_are_those_of_all() -> None:
    """Merged by parts, mean and deviation are those of all rows; a part may have none."""
    table = frame(300)
    encodings = []
    for part in (table, table[:20], table[20:20], table[20:300]):
        fit = EncodingFit.from_sample(_as_table(table), text=("note",))
        fit.learn(_as_table(part))
        encodings.append(fit)
    whole, first, *others = encodings
    for other in others:
        first.statistics.merge(other.statistics.values)
    np.testing.assert_allclose(first.statistics.values, whole.statistics.values, rtol=1e-12)


def test_terms_beyond_the_room_are_dropped() -> None:
    """Terms are numbered as they are first met, part after part, until there is no room."""
    encodings = []
    for words in (["ape bat"], ["cow ape doe"]):
        table = pl.DataFrame({"note": words, "label": ["x"] * len(words)})
        fit = EncodingFit.from_sample(
            _as_table(table), text=("note",), label="label", word_pairs=False
        )
        fit.learn(_as_table(table))
        encodings.append(fit)
    terms = [fit.parser.numbering.vocabulary.arrays() for fit in encodings]  # type: ignore[union-attr]
    numbering, numbers, n_dropped = merged_terms(terms, 3)
    together = numbering.vocabulary.arrays()
    assert together.letters.tobytes() == b"apebatcow"
    assert together.offsets.tolist() == [0, 3, 6, 9]
    assert [part.tolist() for part in numbers] == [[0, 1], [2, 0, -1]]
    assert n_dropped == 1


def _as_table(rows: pl.DataFrame) -> Any:
    from rosenblatt.data.tables.table import Table

    return Table(rows, "animals.csv", 0, None, 0)


def test_bad_files(client: Client, tmp_path: Path) -> None:
    """What is wrong with a file is told with its name and line, wherever it was read."""
    names = written(tmp_path, "svm", 2)
    Path(names[1]).write_text("tame 1:2\nwild 1:two\n")
    clf = DaskAveragedPerceptron(client=client, n_shards=2)
    with pytest.raises(InputError, match=r"part-1.svm, line 2, column 8"):
        clf.fit_files(names)
    with pytest.raises(InputError, match=r"There is no file nowhere\.svm"):
        clf.fit_files("nowhere.svm")
    with pytest.raises(InputError, match="give files that all of them find"):
        clf.fit_files(["-"], layout=Layout(format=Files(names[:1], Layout()).format))
    Path(names[1]).write_text("tame 1:2\n" * 5)
    with pytest.raises(InputError, match="All 5 rows have the label 'tame'"):
        clf.fit_files(names[1])
