"""How often a guarantee is broken on real rows: 200 splits of those that were not learned from.

``python -m benchmarks.guarantee`` prints a Markdown table; with --write it puts it into
docs/guarantee.md. It takes about three minutes on one core.
"""

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.labelled import LabelledLines, labelled_sets, tagged_sets
from benchmarks.report import put
from rosenblatt import train_files
from rosenblatt.models.guarantee import judged_apart
from rosenblatt.tasks.certainty import Certainty

PAGE = Path(__file__).parents[1] / "docs" / "guarantee.md"
SPLITS, SEED = 200, 0
LEAST_ROWS = 1000  # of a set
ERRORS = (0.01, 0.02, 0.05)
MISSES = (0.02, 0.05, 0.1)
LEARNERS: dict[str, dict[str, Any]] = {
    "default": {},
    "perceptron, last": {"rule": "perceptron", "memory": "last"},
    "perceptron, vote": {"rule": "perceptron", "memory": "vote", "max_iter": 2},
}
OF_LABELS: dict[str, dict[str, Any]] = {  # where a row may have several
    "default": {},
    "with probabilities": {"calibrate": True},
    "ranking": {"goal": "ranking"},
}


def judged(lines: LabelledLines, folder: Path, learner: dict[str, Any]) -> Certainty:
    """Return how sure a model of one third of the rows is of the others."""
    order = np.random.default_rng(SEED).permutation(len(lines.rests))
    part = len(order) // 3
    paths = [lines.write(folder, lines.labels, rows) for rows in (order[:part], order[part:])]
    model = train_files(paths[0], **lines.layout, **learner).model_
    return judged_apart(model, model.rows(paths[1]))


def figures(apart: Certainty) -> Iterator[str]:
    """Yield cells: promises broken and rows answered for each error, then labels that sets miss."""
    n_rows, generator = len(apart.lead), np.random.default_rng(SEED)
    halves = [np.array_split(generator.permutation(n_rows), 2) for _ in range(SPLITS)]
    parts = [[apart.take(half) for half in pair] for pair in halves]
    for error in ERRORS:
        broken, answered = 0, []
        for known, new in parts:
            threshold = np.array([known.curve().threshold_for(error)])
            n_answered, n_wrong = (int(count[0]) for count in new.counts(threshold))
            answered.append(n_answered / len(new.lead))
            broken += n_wrong > error * n_answered
        yield f"{broken / SPLITS:.1%} of {np.mean(answered):.0%}"
    for error in MISSES:
        misses = [(new.behind > known.allowance(error)).mean() for known, new in parts]
        yield f"{np.mean(misses):.2%}"


def main() -> None:
    """Print the table or write it."""
    titles = [*(f"{error:.0%}" for error in ERRORS), *(f"sets {miss:.0%}" for miss in MISSES)]
    lines = [f"| set | learner | error | {' | '.join(titles)} |", f"| --- | --- {'| ---: ' * 7}|"]
    with TemporaryDirectory() as folder:
        for one in chain(labelled_sets(), tagged_sets()):
            learners = OF_LABELS if one.label_separator else LEARNERS
            for title, learner in learners.items() if len(one.rests) >= LEAST_ROWS else ():
                apart = judged(one, Path(folder), learner)
                cells = [one.name, title, f"{apart.coverage().error[-1]:.1%}", *figures(apart)]
                lines.append(f"| {' | '.join(cells)} |")
                print(lines[-1], flush=True)
    if "--write" in sys.argv:
        put("broken promises", "\n".join(lines), PAGE)


if __name__ == "__main__":
    main()
