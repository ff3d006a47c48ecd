"""How many of the labels that an audit doubts first are wrong, beside confident learning's rule.

``python -m benchmarks.audit`` flips a twentieth of the labels of real sets and prints a Markdown
table; with --write it puts it into docs/audit.md. Where rows have several labels, a twentieth of
them is taken out, and as many others are put in. It takes about five minutes on one core.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.labelled import LabelledLines, labelled_sets, tagged_sets
from benchmarks.report import put
from rosenblatt import audit
from rosenblatt.models.train import plan_of
from rosenblatt.tasks.label_sets import has_label
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


def changed(truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which row has which label after a twentieth was taken out and as many were put in.

    The rows of those put in are drawn evenly, the labels as often as rows have them.
    """
    generator, given = np.random.default_rng(SEED), truth.copy()
    pairs = np.argwhere(truth)
    n_changed = int(SHARE * len(pairs))
    given[tuple(pairs[generator.choice(len(pairs), n_changed, replace=False)].T)] = False
    while n_changed:
        row, (_, label) = generator.integers(len(truth)), generator.choice(pairs)
        n_changed -= int(not (truth[row, label] or given[row, label]))
        given[row, label] |= not truth[row, label]
    return given


def confident_learning(path: str, layout: dict[str, Any]) -> NDArray[np.intp]:
    """Return the rows that the rule of confident learning flags, the least probable label first.

    A row counts as a wrong label of the class j if its probability of j reaches the mean one of the
    rows labelled j, and j is the most probable of such classes and not its label (Northcutt, Jiang
    and Chuang, "Confident learning: estimating uncertainty in dataset labels", JAIR 70, 2021).
    Each of several labels is two classes, and rows and labels are numbered together.
    """
    rows, shares = fold_probabilities(plan_of(path, **layout), FOLDS)
    n_classes, sets = len(rows.classes), rows.sets
    if sets is None:
        return _flagged(shares, rows.numbers)[0]
    given = has_label(sets, rows.numbers, n_classes).astype(int)
    found = [_flagged(np.stack([1 - p, p], 1), y) for p, y in zip(shares.T, given.T, strict=True)]
    places = np.concatenate([flagged * n_classes + k for k, (flagged, _) in enumerate(found)])
    return places[np.argsort(np.concatenate([own for _, own in found]), kind="stable")]


def _flagged(shares: NDArray[Any], numbers: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the rows that the rule flags and the probability of the label of each, in order."""
    mean = np.array([shares[numbers == k, k].mean() for k in range(shares.shape[1])])
    confident = np.where(shares >= mean, shares, -1.0)
    best = confident.argmax(axis=1)
    flagged = np.flatnonzero((confident.max(axis=1) >= 0) & (best != numbers))
    own = shares[flagged, numbers[flagged]]
    order = np.argsort(own, kind="stable")
    return flagged[order], own[order]


def line(lines: LabelledLines, folder: Path) -> str:
    """Return the figures of a set of one label a row as a line of the table."""
    given, wrong = flipped(lines.labels)
    path = lines.write(folder, given)
    start = perf_counter()
    found = audit(path, folds=FOLDS, **lines.layout)
    seconds = perf_counter() - start
    ours = [row.line - 1 for row in found.suspects]
    return _cells(lines.name, len(wrong), wrong, ours, (path, lines.layout), seconds)


def line_of_labels(lines: LabelledLines, folder: Path) -> str:
    """Return the figures of a set whose rows have any number of labels."""
    tags = [own.split() for own in lines.labels]
    names = sorted({tag for own in tags for tag in own})
    truth = np.array([np.isin(names, own) for own in tags])
    given, layout = changed(truth), lines.layout
    path = lines.write(folder, np.array([" ".join(np.array(names)[own]) for own in given]))
    start = perf_counter()
    found = audit(path, folds=FOLDS, **layout)
    seconds = perf_counter() - start
    pairs = [(row.line - 1, names.index(row.suggested.split(" ")[1])) for row in found.suspects]
    ours = [row * len(names) + label for row, label in pairs]
    wrong = (given != truth).ravel()
    return _cells(f"{lines.name}, labels", len(truth), wrong, ours, (path, layout), seconds)


def _cells(
    name: str,
    n_rows: int,
    wrong: NDArray[np.bool_],
    listed: list[int],
    source: tuple[str, dict[str, Any]],
    seconds: float,
) -> str:
    """Return a line of the table: what of a list is wrong, and of what the rule flags."""
    n_wrong, half = int(wrong.sum()), (int(wrong.sum()) + 1) // 2
    ours, theirs = wrong[listed], wrong[confident_learning(*source)]
    cells = [
        name,
        f"{n_rows:,}",
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
        for one in tagged_sets():
            lines.append(line_of_labels(one, Path(folder)))
            print(lines[-1], flush=True)
    if "--write" in sys.argv:
        put("flipped labels", "\n".join(lines), PAGE)


if __name__ == "__main__":
    main()
