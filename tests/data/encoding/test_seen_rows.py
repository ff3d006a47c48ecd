"""Test rows that were learned from are counted, by a small sample of digests."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from rosenblatt import train_files
from rosenblatt.data.encoding import TableEncoding
from rosenblatt.data.encoding.familiarity import MOST_KEPT, RowSampler, SeenCounter
from rosenblatt.kernels.rows import finalized
from rosenblatt.models.model import Model
from tests.cli.running import invoked

SALT = b"salt"
ALL = (
    "All {:,} rows are equal to rows that the model was trained on: the error on them says nothing"
    " of new rows."
)


def prints(start: int, stop: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    """Return fingerprints of rows of these numbers."""
    return finalized(np.arange(start, stop, dtype=np.uint64) + np.uint64(1))


def remark(sampler: RowSampler, rows: np.ndarray[tuple[int, ...], np.dtype[np.uint64]]) -> str:
    """Return what is said of rows."""
    seen = sampler.seen(SALT)
    assert seen is not None
    counter = SeenCounter(seen, SALT)
    counter.add(rows)
    return counter.remark() or ""


def test_sample_is_the_same_in_any_order() -> None:
    """The rows with the lowest fingerprints are kept, however rows are cut and ordered."""
    whole, parts = RowSampler(), RowSampler()
    rows = prints(0, 20_000)
    whole.add(rows)
    for part in np.array_split(rows[::-1], 7):
        parts.add(part)
    one, other = whole.seen(SALT), parts.seen(SALT)
    assert one is not None
    assert other is not None
    assert len(one.digests) == MOST_KEPT
    assert (one.limit, one.whole, one.repeated) == (other.limit, other.whole, 0.0)
    np.testing.assert_array_equal(one.digests, other.digests)


def test_counts() -> None:
    """All, a part and none are told apart; a part is estimated from the sample."""
    sampler = RowSampler()
    sampler.add(prints(0, 20_000))
    assert remark(sampler, prints(0, 20_000)) == ALL.format(20_000)
    assert remark(sampler, prints(500, 1500)) == ALL.format(1000)
    assert remark(sampler, prints(20_000, 40_000)) == ""
    part = remark(sampler, prints(16_000, 36_000))
    assert part.startswith("About ")
    assert abs(int(part.split()[1].replace(",", "")) - 4000) < 800
    few = RowSampler()
    few.add(prints(0, 500))
    assert remark(few, prints(400, 800)) == (
        "100 of 400 rows (25 %) are equal to rows that the model was trained on: the error on new"
        " rows may be higher."
    )


def test_rows_that_repeat_anyway() -> None:
    """Where training rows have equals, so may test rows; the very same file is told of."""
    sampler, rows = RowSampler(), np.tile(prints(0, 24), 50)
    sampler.add(rows)
    assert remark(sampler, rows[:600]) == ""
    assert remark(sampler, rows[::-1]) == ALL.format(1200)


@pytest.mark.parametrize("options", [{}, {"hash_bits": 16}, {"bins": 5}])
def test_commands(tmp_path: Path, options: dict[str, Any]) -> None:
    """Evaluate tells of the training file in another order and format; predict has no reason to."""
    folder = str(tmp_path)
    draw = np.random.default_rng(0)
    words = draw.choice(["red", "blue", "wide", "old", "new", "cold"], (600, 5)).tolist()
    frame = pl.DataFrame(
        {
            "size": draw.normal(size=600).round(6),
            "kind": draw.choice(["a", "b", "c"], 600).tolist(),
            "text": [" ".join(row) for row in words],
            "y": draw.choice(["no", "yes"], 600).tolist(),
        }
    )
    frame[:400].write_csv(f"{folder}/old.csv")
    frame[:400].reverse().select("y", "text", "size", "kind").write_ndjson(f"{folder}/again.jsonl")
    frame[400:].write_csv(f"{folder}/new.csv")
    frame[300:500].write_csv(f"{folder}/mixed.csv")
    model = train_files(f"{folder}/old.csv", label="y", text="text", **options).model_
    model.save(f"{folder}/m.model")
    assert ALL.format(400) in model.evaluate(f"{folder}/old.csv").remarks
    again = invoked("evaluate", f"{folder}/m.model", f"{folder}/again.jsonl")
    assert f"Warning: {ALL.format(400)}\n" in again.stderr
    half = Model.load(f"{folder}/m.model").evaluate(f"{folder}/mixed.csv").remarks
    assert any(one.startswith("100 of 200 rows (50 %) are equal to rows that") for one in half)
    assert not any("equal to rows" in one for one in model.evaluate(f"{folder}/new.csv").remarks)
    assert invoked("predict", f"{folder}/m.model", f"{folder}/old.csv").stderr == ""


def test_small_in_the_file(tmp_path: Path) -> None:
    """The sample takes 8 bytes a row, and no more than a thousand rows."""
    rows = "".join(f"{k},{k % 2}\n" for k in range(0, 9000, 3))
    (tmp_path / "rows.csv").write_text("a,y\n" + rows)
    encoding = train_files(f"{tmp_path}/rows.csv", label="y", numeric="a").model_.encoder
    assert isinstance(encoding, TableEncoding)
    assert encoding.seen is not None
    assert encoding.seen.digests.nbytes == 8 * MOST_KEPT
