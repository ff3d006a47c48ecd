"""How many of the labels that an audit doubts first are wrong, beside confident learning's rule.

``python -m benchmarks.audit`` flips a twentieth of the labels of real sets and prints a Markdown
table; with --write it puts it into docs/audit.md. It takes about four minutes on one core.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.labelled import LabelledLines, labelled_sets
from benchmarks.report import put
from rosenblatt import audit
from rosenblatt.models.train import plan_of
from rosenblatt.tuning.audit import fold_probabilities

PAGE = Path(__file__).parents[1] / "docs" / "audit.md"
SHARE, FOLDS, SEED = 0.05, 5, 0
HEADING = (
    "| set | rows | k | listed | found | at k/2 | at k "
    "| confident learning flags | wrong of these | audit at that number | time |"
    f"\n| --- {'| ---: ' * 10}|"
)


def flipped(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return labels of which a twentieth is another one, drawn evenly, and which they are."""
    generator, classes = np.random.default_rng(SEED), np.unique(labels)
    wrong = np.zeros(len(labels), bool)
    wrong[generator.choice(len(labels), int(SHARE * len(labels)), replace=False)] = True
    given = labels.copy()
    for row in np.flatnonzero(wrong):
        given[row] = generator.choice(classes[classes != labels[row]])
    return given, wrong


def confident_learning(path: str, layout: dict[str, Any]) -> NDArray[np.intp]:
    """Return the rows that the rule of confident learning flags, the least probable label first.

    A row counts as a wrong label of the class j if its probability of j reaches the mean one of the
    rows labelled j, and j is the most probable of such classes and not its label (Northcutt, Jiang
    and Chuang, "Confident learning: estimating uncertainty in dataset labels", JAIR 70, 2021).
    """
    rows, shares = fold_probabilities(plan_of(path, **layout), FOLDS)
    n_classes, numbers = len(rows.classes), rows.numbers
    mean = np.array([shares[numbers == k, k].mean() for k in range(n_classes)])
    confident = np.where(shares >= mean, shares, -1.0)
    best = confident.argmax(axis=1)
    flagged = np.flatnonzero((confident.max(axis=1) >= 0) & (best != numbers))
    return flagged[np.argsort(shares[flagged, numbers[flagged]], kind="stable")]


def line(lines: LabelledLines, folder: Path) -> str:
    """Return the figures of a set as a line of the table."""
    given, wrong = flipped(lines.labels)
    path, n_wrong = lines.write(folder, given), int(wrong.sum())
    start = perf_counter()
    found = audit(path, folds=FOLDS, **lines.layout)
    seconds = perf_counter() - start
    ours = wrong[[row.line - 1 for row in found.suspects]]
    theirs = wrong[confident_learning(path, lines.layout)]
    half = (n_wrong + 1) // 2
    cells = [
        lines.name,
        f"{len(wrong):,}",
        f"{n_wrong:,}",
        f"{len(ours):,}",
        f"{ours.sum() / n_wrong:.1%}",
        f"{ours[:half].mean():.1%}",
        f"{ours[:n_wrong].sum() / n_wrong:.1%}",
        f"{len(theirs):,}",
        f"{theirs.mean():.1%}",
        f"{ours[: len(theirs)].mean():.1%}",
        f"{seconds:.1f} s",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table or write it."""
    lines = [HEADING]
    with TemporaryDirectory() as folder:
        for one in labelled_sets():
            lines.append(line(one, Path(folder)))
            print(lines[-1], flush=True)
    if "--write" in sys.argv:
        put("flipped labels", "\n".join(lines), PAGE)


if __name__ == "__main__":
    main()
