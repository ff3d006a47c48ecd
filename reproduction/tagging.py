"""Collins's structured perceptron on the English Web Treebank: averaging, rare features, passes."""

from collections.abc import Iterator
from typing import Any

from reproduction.estimate import estimate
from reproduction.experiment import Experiment, Setting
from reproduction.line import Line, higher_error
from reproduction.table import Cell, Grid
from rosenblatt.models.sentence_files import FileTagger, train_sentences

SEEDS, QUICK_SEEDS = 3, 2
PASSES, SHOWN = 10, (1, 2, 5, 10, 20)
FILES = tuple(f"ewt.{part}.conll.gz" for part in ("train", "dev", "test"))
CUT = 5  # features that come less often are left out
COLUMNS = {"universal tags": "2", "Penn tags": "3"}
AVERAGING = "Error in % of the last weights less that of their average"
RARE = f"Error in % without features that come less than {CUT} times, less that with all"
EARLY = f"Error in % after one pass less that after {PASSES}"
MEMORIES = ("average", "last")


def errors(setting: Setting, label: str, seed: int, **how: Any) -> tuple[float, float]:
    """Return the share of wrong tokens in per cent, on the development file and on the test."""
    train, dev, test = (str(setting.folder.file(name)) for name in FILES)
    model = train_sentences([train], label=label, rule="perceptron", random_state=seed, **how)
    if model.outcome["stop_reason"] == "interrupted":
        raise KeyboardInterrupt
    tagger = FileTagger(model)
    found = [
        tagger.evaluation([tagger.file(name)], label=label).error or 0.0 for name in (dev, test)
    ]
    return 100 * found[0], 100 * found[1]


def run(setting: Setting) -> Iterator[Line | Grid]:
    """Yield the lines of each set of tags, and the errors themselves."""
    n_seeds = setting.runs(SEEDS, QUICK_SEEDS)
    rows: list[list[Cell]] = []
    for subject, label in COLUMNS.items():
        found: dict[tuple[str, int, int], list[tuple[float, float]]] = {}
        ways = [(memory, cut, PASSES) for memory in MEMORIES for cut in (1, CUT)]
        ways += [("average", 1, n) for n in SHOWN if n != PASSES]
        for memory, cut, passes in ways:
            setting.tell(f"{subject}, {memory}, {passes} passes")
            how = {"memory": memory, "min_count": cut, "max_iter": passes}
            found[memory, cut, passes] = [
                errors(setting, label, seed, **how) for seed in range(n_seeds)
            ]

        def more(one: tuple[str, int, int], other: tuple[str, int, int]) -> list[float]:
            pairs = zip(found[one], found[other], strict=True)  # noqa: B023  # called at once
            return [a[1] - b[1] for a, b in pairs]

        for cut, variant in ((1, "all features"), (CUT, "frequent features")):
            lost = more(("last", cut, PASSES), ("average", cut, PASSES))
            yield higher_error(AVERAGING, subject, estimate(lost), variant)
        for memory in MEMORIES:
            lost = more((memory, CUT, PASSES), (memory, 1, PASSES))
            yield higher_error(RARE, subject, estimate(lost), memory)
        lost = more(("average", 1, 1), ("average", 1, PASSES))
        yield higher_error(EARLY, subject, estimate(lost))
        for (memory, cut, passes), pairs in found.items():
            dev, test = (estimate(list(side)) for side in zip(*pairs, strict=True))
            features = "all" if cut == 1 else f"{cut} times or more"
            figures = [f"{one.mean:.2f} ± {one.deviation:.2f}" for one in (dev, test)]
            rows.append([subject, memory, features, passes, *figures])
    headings = ("tags", "weights", "features", "passes", "error, dev", "error, test")
    yield Grid("Wrong tokens in % (mean ± deviation over seeds)", headings, rows)


EXPERIMENT = Experiment(
    name="tagging",
    title="Tags of words by the structured perceptron",
    source=(
        "M. Collins, Discriminative training methods for hidden Markov models, EMNLP 2002: "
        "averaged weights err less than the last ones, and rare features should stay."
    ),
    method=(
        "The English Web Treebank, 12,544 sentences to learn from, 25,094 words to test; the "
        f"features of `rosenblatt train`, {PASSES} passes of the perceptron, shuffled every time; "
        f"{SEEDS} seeds ({QUICK_SEEDS} with --quick). The paper's treebank and templates were not "
        "at hand: its claims are tried, not its figures."
    ),
    tolerance="The 95 % interval of the mean paired difference over the seeds.",
    run=run,
)
