"""The time limit: every stage looks at the clock, which these tests set."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.theory import search, solvers, widest_margin
from rosenblatt.theory.deadline import Deadline, OutOfTimeError
from rosenblatt.theory.diagnosis import examine
from rosenblatt.theory.exact import kernel_point, solve
from rosenblatt.theory.inequalities import Inequalities
from rosenblatt.theory.labelled_rows import LabelledRows, check_labelled_rows
from rosenblatt.theory.nearest_point import nearest_point


class Ticks:
    """A clock that goes on by a second whenever somebody looks."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        self.now += 1.0
        return self.now


def topics(n_rows: int, n_features: int, n_classes: int, *, mixed: bool) -> LabelledRows:
    """Return rows like the words of texts: few of many features, some of them the class's own."""
    generator = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    words = (n_features * generator.random((n_rows, 30)) ** 3).astype(int)
    own = (y[:, None] * 97 + generator.integers(0, 40, (n_rows, 10))) % n_features
    indices = np.concatenate([words, own], axis=1).ravel()
    X = sparse.csr_array((np.ones(len(indices)), indices, np.arange(n_rows + 1) * 40))
    X.resize((n_rows, n_features))
    if mixed:
        y = generator.permutation(y)
    return check_labelled_rows(X, y)


def test_shares_of_a_deadline() -> None:
    """A share ends when its part of what is left is over, and never after the whole."""
    time = [0.0]
    whole = Deadline(10.0, lambda: time[0])
    assert whole.share(4).left == 2.5
    time[0] = 8.0
    assert whole.share(4).left == 0.5
    whole.check()
    time[0] = 11.0
    assert (whole.left, whole.passed, whole.share(2).passed) == (0.0, True, True)
    with pytest.raises(OutOfTimeError):
        whole.check()
    never = Deadline(None, lambda: time[0])
    assert not never.is_set
    assert not never.share(9).passed


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which every stage that takes its time writes its name when it begins."""
    begun: list[str] = []

    def watched(owner: Any, name: str) -> None:
        stage: Callable[..., Any] = getattr(owner, name)

        def begin(*args: Any, **options: Any) -> Any:
            begun.append(name)
            return stage(*args, **options)

        monkeypatch.setattr(owner, name, begin)

    for owner, name in (
        (search, "fit"),
        (search, "kernel_point"),
        (search, "any_witness"),
        (widest_margin, "nearest_point"),
        (solvers, "_quadratic"),
        (scipy.optimize, "linprog"),
    ):
        watched(owner, name)
    return begun


@pytest.mark.parametrize("mixed", [False, True])
def test_no_stage_begins_after_the_limit(starts: list[str], mixed: bool) -> None:
    """On a text of 20 classes the search stops at the limit, in whatever stage it is by then."""
    rows = topics(120, 2000, 20, mixed=mixed)
    counts = []
    for seconds in (0.0, 3.0, 20.0, 60.0):
        starts.clear()
        verdict = examine(rows, None, Deadline(seconds, Ticks()))
        assert len(verdict.pairs) == 20 * 19 // 2
        assert verdict.status in {"undecided", "separable"}
        assert len(starts) <= seconds  # each looks at the clock at least once before it begins
        counts.append(len(starts))
    assert counts[0] == 0
    assert counts == sorted(counts)


def test_without_time_nothing_is_claimed() -> None:
    """A limit of nothing leaves the set undecided, with what a look at the rows tells."""
    rows = topics(300, 5000, 52, mixed=True)
    verdict = examine(rows, None, Deadline(0.0, Ticks()))
    assert verdict.status == "undecided"
    assert verdict.radius > 1
    assert verdict.notes == (
        "the time limit was reached during the linear program",
        "to decide it, raise time_limit=, or give fewer rows or shorter numbers",
    )
    assert {pair.status for pair in verdict.pairs} == {"undecided"}


def test_conflicts_need_no_time() -> None:
    """Equal rows with different labels decide the whole and their pair, whatever the limit."""
    X = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    verdict = examine(check_labelled_rows(X, [0, 1, 2, 1]), None, Deadline(0.0, Ticks()))
    assert verdict.status == "inseparable"
    assert [pair.status for pair in verdict.pairs] == ["inseparable", "undecided", "undecided"]


@pytest.mark.parametrize("seconds", [2.0, 20.0, 40.0])
def test_exact_arithmetic_stops(seconds: float) -> None:
    """Elimination and the walk to the nearest point end in the middle of their work.

    A linear system that would take longer than there is time is not begun.
    """
    generator = np.random.default_rng(0)
    matrix: NDArray[Any] = generator.integers(-(2**50), 2**50, (40, 40)).astype(object)
    with pytest.raises(OutOfTimeError):
        solve(matrix, [1] * 40, Deadline(seconds / 1e6, lambda: 0.0))
    vectors = [dict(enumerate(map(int, line))) for line in matrix] + [{0: 1}]
    with pytest.raises(OutOfTimeError):
        kernel_point(vectors, np.ones(41), Deadline(seconds, Ticks()))
    X = generator.standard_normal((200, 30))
    system = Inequalities(check_labelled_rows(X, np.arange(200) % 2))
    with pytest.raises(OutOfTimeError):
        nearest_point(
            system, np.arange(200), ~system.free, np.arange(0), Deadline(seconds / 10, Ticks())
        )
