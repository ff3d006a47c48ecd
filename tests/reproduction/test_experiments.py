"""What the experiments measure, on small generated rows and by hand."""

from pathlib import Path

import numpy as np
import pytest

from reproduction import combinations, early_stopping, libol, shuffling, sol, survival
from reproduction.data_sets import Problem, separable_rows
from reproduction.early_stopping import Curves, curves, sweet_spots
from reproduction.estimate import Estimate
from reproduction.experiment import train
from reproduction.shuffling import Course, Separable, course, saving
from reproduction.survival import growth, held_share, lives, longest_lived
from rosenblatt import AveragedPerceptron, Perceptron, diagnose
from rosenblatt.rules import PA, Rule
from rosenblatt.rules import Perceptron as PerceptronRule
from rosenblatt.training.examples import Order, row_numbers


def overlapping(n_rows: int, seed: int) -> Problem:
    """Return two clouds that overlap, half of the rows held out."""
    generator = np.random.default_rng(seed)
    y = np.where(generator.random(2 * n_rows) < 0.5, -1, 1)
    X = generator.normal(size=(2 * n_rows, 3)) + 0.7 * y[:, np.newaxis]
    return Problem.of(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


@pytest.mark.parametrize("rule", [PerceptronRule(), PA()])
def test_libol_counts_one_pass(rule: Rule) -> None:
    """Mistakes and updates are those of a loop in plain Python, a zero taken for positive."""
    problem = overlapping(60, 0)
    printed = libol.Printed(rule, 0.0, None, None)
    ours = libol.count(problem.X_train, problem.y_train, printed, 1)
    order = Order(row_numbers(60), shuffle=True, generator=np.random.default_rng(0)).next()
    w, mistakes, updates = np.zeros(3), 0, 0
    for i in order:
        x, y = problem.X_train[i], int(problem.y_train[i])
        activation = float(w @ x)
        is_mistake = (1 if activation >= 0 else -1) != y
        mistakes += is_mistake
        if isinstance(rule, PA):
            tau = max(0.0, 1 - y * activation) / float(x @ x)
        else:
            tau = float(is_mistake)
        updates += tau > 0
        w = w + tau * y * x
    assert ours.rate.mean == pytest.approx(100 * mistakes / 60)
    assert ours.updates == Estimate(updates, 0.0, 1)


def test_sol_adds_up_precisions() -> None:
    """The variances of SOL's AROW are 1/(1 + Σx²/r) over the rows that moved a class."""
    X, y, r = np.array([[1.0, 0.0], [0.5, 2.0], [1.0, 1.0]]), np.array([0, 1, 2]), 0.5
    w, precision = np.zeros((3, 2)), np.ones((3, 2))
    for x, k in zip(X, y, strict=True):
        scores = w @ x
        rival = max((c for c in range(3) if c != k), key=lambda c: scores[c])
        loss = 1 - scores[k] + scores[rival]
        variance = sum(float(x * x @ (1 / precision[c])) for c in (k, rival))
        alpha = loss / (variance + r)
        for c, side in ((k, 1), (rival, -1)):
            w[c] += side * alpha * x / precision[c]
            precision[c] += x * x / r
    np.testing.assert_allclose(sol.their_weights(X, y, 3, r, np.arange(3)), w)


def test_sol_lines() -> None:
    """Their deviation is taken for ours, over their ten orders."""
    line = sol.compare("AROW", "AROW", Estimate(92.0, 0.2, 10))
    assert line.difference == pytest.approx(-0.3)
    assert line.tolerance == pytest.approx(2.262 * 0.2 * np.sqrt(2 / 10) + 0.05, rel=1e-3)
    assert line.verdict == "differs"


def test_libol_lines() -> None:
    """Equal figures are reproduced, and figures many deviations away differ."""
    printed = libol.FIGURES["perceptron"]
    ours = libol.Counted(Estimate(33.3, 1.0, 400), Estimate(500.0, 12.0, 400))
    rate, updates = libol.compare("perceptron", printed, ours)
    assert (rate.verdict, updates.verdict) == ("reproduced", "differs")
    assert rate.tolerance == pytest.approx(2.093 * (1.2**2 / 20 + 1 / 400) ** 0.5 + 0.05, rel=1e-3)


@pytest.mark.parametrize(("n_features", "margin"), [(2, 0.3), (20, 0.1)])
def test_generated_rows_have_their_margin(n_features: int, margin: float) -> None:
    """They are unit vectors on either side of a plane, at least the margin away from it."""
    X, y = separable_rows(200, n_features, margin, seed=3)
    assert X.shape == (200, n_features)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)
    assert set(y.tolist()) == {-1, 1}
    verdict = diagnose(X, y)
    assert verdict.status == "separable"
    assert verdict.margin_high >= margin


def test_courses() -> None:
    """All orders of separable rows end; sorted by label every positive row comes first."""
    X, y = separable_rows(100, 3, 0.1, seed=0)
    rows = Separable(X, y, 1000)
    found = {order: course(rows, order, 4) for order in shuffling.ORDERS}
    assert [len(one.passes) for one in found.values()] == [4, 4, 1, 4]
    assert all(one.n_stopped == 0 for one in found.values())
    given = Perceptron(shuffle=False).fit(X, y)
    assert found["as given"].passes == [given.n_iter_]
    assert found["as given"].updates == [given.n_mistakes_]
    once = Perceptron(shuffle="once", random_state=2).fit(X, y)
    assert found["shuffled once"].passes[2] == once.n_iter_
    every = Perceptron(random_state=3).fit(X, y)
    assert found["shuffled every pass"].updates[3] == every.n_mistakes_


def test_sorted_rows_are_sorted() -> None:
    """Sorted by label is the given order of rows whose positive ones stand first."""
    positive, negative = [[1.0, 1.0]] * 5, [[1.0, 2.0]] * 5
    y = np.array([-1, 1] * 5, np.int8)
    X = np.where(y[:, np.newaxis] > 0, positive[0], negative[0])
    found = course(Separable(X, y, 50), "sorted by label", 3)
    given = Perceptron(shuffle=False).fit(positive + negative, [1] * 5 + [-1] * 5)
    other = Perceptron(shuffle=False).fit(X, y)
    assert found.passes == [given.n_iter_] * 3
    assert found.updates == [given.n_mistakes_] * 3
    assert given.n_iter_ != other.n_iter_


def test_what_does_not_end_is_counted() -> None:
    """Trainings that are stopped are counted with the passes they had, and told of."""
    X, y = np.array([[1.0], [1.0]]), np.array([-1, 1], np.int8)
    found = course(Separable(X, y, 5), "shuffled every pass", 2)
    assert found == Course([5, 5], [10, 10], 2)
    assert found.told == "≥ 5.0 ± 0.0 (2 of 2 stopped)"


def test_saving() -> None:
    """Six passes instead of ten save 40 %, and the claim of 20 % differs."""
    every, once = Course([6, 6], [1, 1], 0), Course([10, 10], [1, 1], 0)
    assert saving(every, once).mean == pytest.approx(40.0)
    assert saving(every, once).deviation == 0.0
    courses = {"shuffled every pass": every, "shuffled once": once, "as given": once}
    lines = list(shuffling.compare("rows", {**courses, "sorted by label": Course([60, 60], [], 1)}))
    assert [line.verdict for line in lines] == ["differs", "reproduced"]
    assert lines[1].ours.mean == pytest.approx(10.0)
    assert lines[1].subject == "rows (at least)"
    mean, theory = shuffling.means(lines[:1] * 2, [])
    assert (mean.paper, theory.paper) == (20.0, 50.0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_curves_are_those_of_the_estimators() -> None:
    """After every pass the errors are those of the estimators of so many passes."""
    problem = overlapping(80, 1)
    found = curves(problem, 5, 3)
    X, y = problem.X_test, problem.y_test
    halves = np.random.default_rng(0).permutation(80)
    for m, kind in enumerate((Perceptron, AveragedPerceptron)):
        model = kind(max_iter=3, random_state=5).fit(problem.X_train, problem.y_train)
        wrong = model.predict(X) != y
        assert found.choosing[m, 2] == pytest.approx(100 * wrong[halves[:40]].mean())
        assert found.judging[m, 2] == pytest.approx(100 * wrong[halves[40:]].mean())
        train_error = 100 * (1 - model.score(problem.X_train, problem.y_train))
        assert found.training[m, 2] == pytest.approx(train_error)


def test_sweet_spots_are_chosen_by_other_seeds() -> None:
    """Even trainings take the pass that is best in the odd ones, and the other way round."""
    even, odd = [[5.0, 1.0, 9.0]] * 2, [[5.0, 9.0, 1.0]] * 2
    found = [
        Curves(np.zeros((2, 3)), np.array(choosing), np.array([[7.0, 6.0, 8.0]] * 2))
        for choosing in (even, odd, even, odd)
    ]
    assert sweet_spots(found, 0) == [2, 1, 2, 1]
    lines = {line.claim: line for line in early_stopping.compare("rows", found)}
    assert lines[early_stopping.OVERFITTING].ours.mean == pytest.approx((0 + 2 + 0 + 2) / 4)
    assert lines[early_stopping.UNDERFITTING].ours.mean == pytest.approx((-1 + 1 - 1 + 1) / 4)
    assert lines[early_stopping.STOPPING].ours.mean == pytest.approx((2 + 0 + 2 + 0) / 4)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_lives_are_those_of_the_estimator() -> None:
    """Survival times add up to all rows after the first mistake, as the estimator counts them."""
    problem = overlapping(80, 2)
    found = lives(problem, 4, 3)
    model = Perceptron(max_iter=3, random_state=4, record_mistakes=True)
    model.fit(problem.X_train, problem.y_train)
    np.testing.assert_array_equal(found.survival, model.mistakes_.survival)
    assert len(found.survival) == model.n_mistakes_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_vectors_made_again_from_mistakes() -> None:
    """The vector after the last mistake errs as the estimator does, that after the first as x₀."""
    problem = overlapping(80, 2)
    outcome = train(problem.learned, 2, 4, max_iter=3, record=True)
    assert outcome.mistakes is not None
    log = outcome.mistakes.updates
    numbers = np.array([0, len(log.row) - 1])
    errors = survival.vector_errors(problem, log.row, log.tau * log.label, numbers)
    model = Perceptron(max_iter=3, random_state=4).fit(problem.X_train, problem.y_train)
    assert errors[1] == pytest.approx(100 * (1 - model.score(problem.X_test, problem.y_test)))
    x, y = problem.X_train[log.row[0]], problem.y_train[log.row[0]]
    guess = np.where(y * (problem.X_test @ x + 1) > 0, 1, -1)
    assert errors[0] == pytest.approx(100 * np.mean(guess != problem.y_test))


def test_survival_by_hand() -> None:
    """Shares, growth and the longest-lived of lives that are written down."""
    survival_times = np.array([9, 1, 2, 3, 50, 4, 5, 6, 7, 13])
    assert held_share(survival_times, 0.1) == pytest.approx(50.0)
    assert growth(survival_times) == pytest.approx(13 / 9)
    assert longest_lived(survival_times).tolist() == [4]
    many = np.tile(survival_times, 30)
    assert longest_lived(many).tolist() == [4, 14, 24]  # one in a hundred, the first of equals


def test_survival_lines() -> None:
    """Neighbours that err more on either side of a long life are what the book describes."""
    found = [
        survival.Lives(np.array([1] * 10 + [5] * 10), (20.0, 10.0, 10.0 + noise))
        for noise in (1.0, -1.0)
    ]
    longer, before, after = survival.compare("rows", found)
    assert longer.ours.mean == pytest.approx(5.0)
    assert (longer.verdict, before.verdict, after.verdict) == (
        "reproduced",
        "reproduced",
        "undecided",
    )


def test_combinations_name_the_pair(tmp_path: Path) -> None:
    """A number that a word turns is not learned alone, and is with the pair that mistakes name."""
    without, paired, named = combinations.trial("a number and a word", 0, tmp_path)
    assert named
    assert paired < combinations.LEARNED < combinations.ALONE < without
