"""How many passes are enough: the evidence for the defaults of max_iter.

Prints Markdown tables; with --write it puts them into docs/passes.md instead, each between its two
marks. It needs the data sets of ROSENBLATT_DATA and takes eight to ten minutes on one core.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.problems import LARGE, Problem, small
from benchmarks.report import put
from reproduction.data_sets import rows_of
from reproduction.digest import digest_of
from reproduction.machine import made_now
from rosenblatt.rules import PA1, PA2, Perceptron, Rule
from rosenblatt.training.examples import Examples
from rosenblatt.training.history import Outcome, PassRecord
from rosenblatt.training.loop import EarlyStopping, Plan
from rosenblatt.training.state import State, count_mistakes, fit

PAGE = Path(__file__).parents[1] / "docs" / "passes.md"

LARGE_POINTS = (1, 2, 3, 5, 10, 20, 50, 100)
SMALL_POINTS = (*LARGE_POINTS, 200, 500, 1000)
LARGE_SEEDS = range(4)
SMALL_SEEDS = range(10)
CHECK_POINTS = (10, 5, 20, 50, 100)  # compared with the first
CHECK_SEEDS = range(100, 160)  # none of those that the defaults were chosen by
LIMITS = {"imdb": 200}  # passes, where those to measure at are too few to see it converge
GENERATED_LIMIT = 5000

SHAPES = [(n_rows, n_features) for n_rows in (100, 500, 2000) for n_features in (2, 10)]

RULES: dict[str, Rule] = {"Perceptron": Perceptron(1.0), "PA-I": PA1(1.0), "PA-II": PA2(1.0)}


class Learner(NamedTuple):
    """A rule, what is kept of its weights, and the passes decided for it."""

    rule: str
    averaged: bool
    decided: int


LEARNERS = {
    "Perceptron": Learner("Perceptron", averaged=False, decided=200),
    "AveragedPerceptron": Learner("Perceptron", averaged=True, decided=20),
    "PA-I": Learner("PA-I", averaged=False, decided=10),
    "PA-I, average=True": Learner("PA-I", averaged=True, decided=10),
    "PA-II": Learner("PA-II", averaged=False, decided=10),
}


@dataclass
class Findings:
    """What was measured on one data set, with one entry a seed in each list."""

    name: str
    points: tuple[int, ...]
    limit: int  # passes at most
    train_rows: int = 0
    errors: dict[str, list[NDArray[Any]]] = field(default_factory=dict)  # by learner; % at points
    stopped: dict[str, list[tuple[float, int]]] = field(default_factory=dict)  # error %, passes
    converged: dict[str, list[int | None]] = field(default_factory=dict)  # by rule; the pass
    seconds: dict[str, list[float]] = field(default_factory=dict)  # by rule; of a pass

    def error(self, learner: str) -> NDArray[Any]:
        """Return the mean error at each point."""
        mean: NDArray[Any] = np.mean(self.errors[learner], axis=0)
        return mean

    def decided_error(self, learner: str) -> float:
        """Return the mean error after the decided passes, or as many as were measured."""
        column = np.searchsorted(self.points, LEARNERS[learner].decided).item()
        return float(self.error(learner)[min(column, len(self.points) - 1)])


def error_on(state: State, weights: NDArray[Any], test: Examples) -> float:
    """Return the error of weights of this state in %."""
    return 100.0 * count_mistakes(state, weights, test, test.numbers(), -1) / len(test.targets)


def curve(
    problem: Problem, rule: Rule, points: tuple[int, ...], limit: int, seed: int
) -> tuple[NDArray[Any], Outcome]:
    """Train once; return the test errors of the last weights and of the average at the points."""
    state = State.zeros(problem.train.rows.shape[1], problem.n_classes, averaged=True)
    errors = np.empty((2, len(points)))

    def measure(column: int) -> None:
        """Fill in from here on: what has converged stays as it is."""
        errors[0, column:] = error_on(state, state.weights, problem.test)
        errors[1, column:] = error_on(state, state.average(), problem.test)

    def observe(record: PassRecord) -> None:
        if record.pass_ in points:
            measure(points.index(record.pass_))

    plan = Plan(rule, max_iter=limit, shuffle="full")
    outcome = fit(state, problem.train, plan, np.random.default_rng(seed), [observe])
    measure(np.searchsorted(points, len(outcome.history)).item())
    return errors, outcome


def early_stopped(problem: Problem, learner: Learner, seed: int) -> tuple[float, int]:
    """Return the test error and the passes of a training with early stopping."""
    n_features = problem.train.rows.shape[1]
    state = State.zeros(n_features, problem.n_classes, averaged=learner.averaged)
    plan = Plan(
        RULES[learner.rule], learner.decided, shuffle="full", early_stopping=EarlyStopping()
    )
    outcome = fit(state, problem.train, plan, np.random.default_rng(seed))
    return error_on(state, state.average(), problem.test), len(outcome.history)


def study(name: str, data: Any, points: tuple[int, ...], seeds: Sequence[int]) -> Findings:
    """Measure everything on one data set."""
    found = Findings(name, points, LIMITS.get(name, points[-1]))
    for seed in seeds:
        problem = data.problem(seed)
        found.train_rows = len(problem.train.targets)
        for rule_name, rule in RULES.items():
            errors, outcome = curve(problem, rule, points, found.limit, seed)
            passes = len(outcome.history) if outcome.converged else None
            found.converged.setdefault(rule_name, []).append(passes)
            median = float(np.median([record.seconds for record in outcome.history]))
            found.seconds.setdefault(rule_name, []).append(median)
            for learner_name, learner in LEARNERS.items():
                if learner.rule == rule_name:
                    kept = errors[int(learner.averaged)]
                    found.errors.setdefault(learner_name, []).append(kept)
        for learner_name, learner in LEARNERS.items():
            stopped = early_stopped(problem, learner, seed)
            found.stopped.setdefault(learner_name, []).append(stopped)
    return found


def separable(margin: float, seed: int, n_rows: int, n_features: int) -> Examples:
    """Draw rows of length 1 no nearer than this to a random plane through 0, which labels them."""
    generator = np.random.default_rng(seed)
    u = generator.normal(size=n_features)
    u /= np.linalg.norm(u)
    X = generator.normal(size=(2 * n_rows, n_features))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X = np.ascontiguousarray(X[np.abs(X @ u) >= margin][:n_rows])
    return Examples(rows_of(X), np.where(X @ u > 0, 1, -1).astype(np.int8))


def passes_to_separate(examples: Examples, rule: Rule, limit: int) -> int:
    """Return the passes until none makes a mistake, or one more than the limit."""
    state = State.zeros(examples.rows.shape[1], 2, averaged=False)
    outcome = fit(state, examples, Plan(rule, limit), np.random.default_rng(0))
    return len(outcome.history) if outcome.converged else limit + 1


def markdown(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Return a table; all columns but the first are numbers."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *body])


def spread(values: NDArray[Any]) -> str:
    """Return mean ± standard deviation."""
    return f"{values.mean():.1f} ± {values.std(ddof=1):.1f}"


def curve_table(learner: str, findings: Sequence[Findings]) -> str:
    """Return the test errors of one learner on every set."""
    points = findings[0].points
    body = []
    for found in findings:
        columns = np.array(found.errors[learner]).T
        body.append([found.name, *(spread(column) for column in columns)])
    return markdown(["passes", *map(str, points)], body)


def summary_table(findings: Sequence[Findings]) -> str:
    """Return what each number of passes loses to the best number, mean and worst over the sets."""
    body = []
    for learner in LEARNERS:
        error = np.array([found.error(learner) for found in findings])  # (sets, points)
        loss = error - error.min(axis=1, keepdims=True)
        worst = [f"{m:.2f} ({w:.1f})" for m, w in zip(loss.mean(0), loss.max(0), strict=True)]
        body.append([learner, *worst])
    return markdown(["passes", *map(str, findings[0].points)], body)


def separable_table(shapes: Sequence[tuple[int, int]], rules: Sequence[str], n_sets: int) -> str:
    """Return the distribution of passes on generated separable sets of these rows and features."""
    shares = (50, 100, 200, 500, 1000)
    body = []
    for margin in (0.01, 0.001):
        for shape in shapes:
            examples = [separable(margin, seed, *shape) for seed in range(n_sets)]
            for name in rules:
                passes = np.array(
                    [passes_to_separate(e, RULES[name], GENERATED_LIMIT) for e in examples]
                )
                most = (
                    f"{passes.max()}"
                    if passes.max() <= GENERATED_LIMIT
                    else f"over {GENERATED_LIMIT}"
                )
                within = (f"{np.mean(passes <= k):.0%}" for k in shares)
                told = [name, str(margin), f"{shape[0]} × {shape[1]}"]
                body.append([*told, f"{np.median(passes):.0f}", most, *within])
    head = ["rule", "margin", "rows × features", "median", "most", *(f"≤ {k}" for k in shares)]
    return markdown(head, body)


def convergence_table(findings: Sequence[Findings]) -> str:
    """Return the passes that real sets took, for those that any seed separated."""
    body = []
    for found in findings:
        cells = []
        for passes in found.converged.values():
            done = [p for p in passes if p is not None]
            told = "–".join(map(str, sorted({min(done), max(done)}))) if done else "none"
            missing = len(passes) - len(done)
            cells.append(told + (f" ({missing} of {len(passes)} not)" if done and missing else ""))
        if any(cell != "none" for cell in cells):
            body.append([found.name, str(found.limit), *cells])
    return markdown(["set", "limit", *RULES], body)


def cost_table(findings: Sequence[Findings]) -> str:
    """Return how long the median pass of the quickest seed takes."""
    body = [
        [found.name, f"{found.train_rows:,}"]
        + [f"{1000 * min(seconds):.1f}" for seconds in found.seconds.values()]
        for found in findings
    ]
    return markdown(["set", "rows", *(f"{name}, ms a pass" for name in RULES)], body)


def early_stopping_table(groups: dict[str, list[Findings]]) -> str:
    """Return what early stopping does against the decided number of passes."""
    body = []
    for group, findings in groups.items():
        for name, learner in LEARNERS.items():
            fixed = np.array([found.decided_error(name) for found in findings])
            stopped = np.array([np.mean(found.stopped[name], axis=0) for found in findings])
            gain = fixed - stopped[:, 0]
            numbers = [f"{fixed.mean():.2f}", f"{stopped[:, 0].mean():.2f}"]
            counts = f"{(gain > 0.1).sum()} / {(gain < -0.1).sum()}"
            extremes = [f"{gain.max():+.1f}", f"{gain.min():+.1f}", f"{stopped[:, 1].mean():.0f}"]
            body.append([f"{name}, {group}", str(learner.decided), *numbers, counts, *extremes])
    head = ["learner, sets", "passes", "error", "error, stopped early", "better / worse"]
    return markdown([*head, "most gained", "most lost", "passes made"], body)


def check_table() -> str:
    """Return the mean error on the small sets with new seeds, as differences ± standard error."""
    points = tuple(sorted(CHECK_POINTS))
    sets = [data for _, data in small()]
    errors: dict[str, list[NDArray[Any]]] = {name: [] for name in RULES}  # mean over the sets
    for seed in CHECK_SEEDS:
        problems = [data.problem(seed) for data in sets]
        for name, rule in RULES.items():
            curves = [curve(problem, rule, points, points[-1], seed)[0] for problem in problems]
            errors[name].append(np.mean(curves, axis=0))
    body = []
    for name, learner in LEARNERS.items():
        error = np.array(errors[learner.rule])[:, int(learner.averaged)]  # (seeds, points)
        first, *others = (error[:, points.index(point)] for point in CHECK_POINTS)
        differences = [other - first for other in others]
        cells = [f"{d.mean():+.2f} ± {d.std(ddof=1) / np.sqrt(len(d)):.2f}" for d in differences]
        body.append([name, f"{first.mean():.2f}", *cells])
    return markdown(["passes", *map(str, CHECK_POINTS)], body)


def tables() -> Iterator[tuple[str, str]]:
    """Yield every table with its name, each as soon as it is known."""
    made = made_sentence()
    yield "separable, 20 sets", separable_table([(500, 10)], list(RULES), 20)
    yield "separable, 200 sets", separable_table([(500, 10)], list(RULES), 200)
    yield "separable, other shapes", separable_table(SHAPES, ["Perceptron"], 40)
    few = [study(name, data, SMALL_POINTS, SMALL_SEEDS) for name, data in small()]
    many = [study(name, load(), LARGE_POINTS, LARGE_SEEDS) for name, load in LARGE.items()]
    groups = {"large": many, "small": few}
    yield "check", check_table()
    yield "convergence", convergence_table([*many, *few])
    yield "cost", cost_table(many)
    yield "early stopping", early_stopping_table(groups)
    for group, findings in groups.items():
        yield f"summary, {group}", summary_table(findings)
        for learner in LEARNERS:
            yield f"{learner}, {group}", curve_table(learner, findings)
    yield "made", made  # when all others are written


def passes_digest() -> str:
    """Return a digest of what the trainings of this page give on small made-up rows."""
    generator = np.random.default_rng(0)
    y = np.where(generator.random(90) < 0.5, -1, 1).astype(np.int8)
    X = (generator.integers(-3, 4, size=(90, 5)) + y[:, np.newaxis]).astype(np.float64)
    train, test = (Examples(rows_of(X[part]), y[part]) for part in (slice(60), slice(60, 90)))
    problem, points = Problem(train, test, 2), (1, 2, 5)
    found = [curve(problem, rule, points, points[-1], 0)[0] for rule in RULES.values()]
    stopped = [early_stopped(problem, learner, 0) for learner in LEARNERS.values()]
    return digest_of([found, stopped, *LEARNERS.items(), LARGE_POINTS, SMALL_POINTS])


def made_sentence() -> str:
    """Return when and by which version the tables were made."""
    made = made_now()
    version = made["versions"]["rosenblatt"]
    return f"Tables made on {made['date']} by rosenblatt {version}, digest {passes_digest()}."


def main() -> None:
    """Print the tables, or put them into the page."""
    write = "--write" in sys.argv[1:]
    for name, text in tables():
        if write:
            put(name, text, PAGE)
        else:
            print(f"\n{name}\n\n{text}", flush=True)


if __name__ == "__main__":
    main()
