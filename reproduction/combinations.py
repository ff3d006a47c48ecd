"""The book's remedy for XOR: combinations of features, here those that the mistakes ask for."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.estimate import estimate
from reproduction.experiment import Experiment, Setting
from reproduction.line import Line
from reproduction.table import Grid
from rosenblatt.data.encoding import GridEncoding
from rosenblatt.models.train import model_from_files

SEEDS, QUICK_SEEDS = 20, 5
ROWS, TEST_ROWS = 2_000, 2_000
NOISE = 20  # columns that say nothing, of numbers and of words
ALONE, LEARNED = 45.0, 5.0  # % of error: what no column alone brings below, and what is learned
Rows = tuple[list[str], NDArray[Any]]


def two_numbers(generator: np.random.Generator, n_rows: int) -> Rows:
    """Return rows of which the sign of a product of two numbers is the class."""
    x = generator.normal(size=(n_rows, 2))
    return [f"{a:.3f},{b:.3f}" for a, b in x], x[:, 0] * x[:, 1] > 0.0


def number_and_word(generator: np.random.Generator, n_rows: int) -> Rows:
    """Return rows in which a word turns what a number says, as "not" does with "excellent"."""
    x, negated = generator.normal(size=n_rows), generator.integers(0, 2, n_rows)
    rows = zip(x, negated, strict=True)
    return [f"{a:.3f},{['yes', 'not'][b]}" for a, b in rows], (x > 0.0) ^ (negated == 1)


def two_words(generator: np.random.Generator, n_rows: int) -> Rows:
    """Return rows of which the parity of two words is the class."""
    codes = generator.integers(0, 4, (n_rows, 2))
    return [f"{'abcd'[a]},{'abcd'[b]}" for a, b in codes], codes.sum(axis=1) % 2 == 1


KINDS = {
    "two numbers": two_numbers,
    "a number and a word": number_and_word,
    "two words of four levels": two_words,
}


def write_rows(path: Path, kind: str, generator: np.random.Generator, n_rows: int) -> str:
    """Write rows of a kind, columns a and b among others that say nothing."""
    pairs, labels = KINDS[kind](generator, n_rows)
    numbers = generator.normal(size=(n_rows, NOISE // 2))
    words = generator.integers(0, 5, (n_rows, NOISE // 2))
    names = [f"n{k}" for k in range(NOISE // 2)] + [f"w{k}" for k in range(NOISE // 2)]
    lines = [
        ",".join([pair, *(f"{x:.3f}" for x in own), *("vwxyz"[k] for k in of_word), f"c{int(y)}"])
        for pair, own, of_word, y in zip(pairs, numbers, words, labels, strict=True)
    ]
    path.write_text("\n".join([",".join(["a", "b", *names, "label"]), *lines, ""]))
    return str(path)


def trial(kind: str, seed: int, folder: Path) -> tuple[float, float, bool]:
    """Return the error in % without pairs and with at most ten, and whether a and b are the one."""
    generator = np.random.default_rng(seed)
    train = write_rows(folder / "train.csv", kind, generator, ROWS)
    test = write_rows(folder / "test.csv", kind, generator, TEST_ROWS)
    models = [model_from_files(train, label="label", column_pairs=n) for n in (0, 10)]
    without, paired = (100.0 * float(model.evaluate(test).error or 0.0) for model in models)
    encoder = models[1].encoder
    return without, paired, isinstance(encoder, GridEncoding) and encoder.terms == [(0, 1)]


def run(setting: Setting) -> Iterator[Line | Grid | str]:
    """Yield the claims on each kind of rows."""
    for kind in KINDS:
        setting.tell(kind)
        with tempfile.TemporaryDirectory() as folder:
            found = [
                trial(kind, seed, Path(folder)) for seed in range(setting.runs(SEEDS, QUICK_SEEDS))
            ]
        without, paired = (estimate([one[k] for one in found]) for k in (0, 1))
        named = estimate([100.0 * one[2] for one in found])
        claim = "Error without combinations, in %, which is that of guessing"
        yield Line(claim, kind, ALONE, without, "above", uncertainty=without.uncertainty)
        claim = "Error with the pairs that the mistakes ask for, in %"
        yield Line(claim, kind, LEARNED, paired, "below", uncertainty=paired.uncertainty)
        claim = "Runs in which the pair of the two columns is chosen, and no other, in %"
        yield Line(claim, kind, 100.0, named, tolerance=10.0)


EXPERIMENT = Experiment(
    name="combinations",
    title="Combinations of features",
    source=(
        "H. Daumé III, A Course in Machine Learning, section 4.7: XOR-like problems exist, as "
        "where “not” turns “excellent”; combinations of features mend them, but all pairs of D "
        "features are D(D − 1)/2."
    ),
    method=(
        f"{ROWS:,} rows of two columns that say nothing alone, among {NOISE} columns of noise, "
        "with `--column-pairs 10`: 231 pairs of columns, of which one matters. Errors are those "
        f"of {TEST_ROWS:,} other rows."
    ),
    tolerance=(
        f"Without pairs the error must stay above {ALONE:.0f} %, with the chosen ones it must come "
        f"below {LEARNED:.0f} %, by more than the 95 % interval over seeds; the pair must be named "
        "in at least 90 % of the runs."
    ),
    run=run,
)
