"""The voted perceptron as a scikit-learn classifier."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification

from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron, load, save, why
from rosenblatt.errors import InputError, WeightOverflowError
from tests import reference
from tests.estimators.test_fit import quiet_fit
from tests.examples import Drawn, data_sets, integers, tries
from tests.voting_reference import Update, count, survivals

SIDES = {"mistake": False, "negative": False, "positive": True}
zeros = st.sampled_from(sorted(SIDES))


def naive(clf: VotedPerceptron, drawn: Drawn, tests: NDArray[Any]) -> list[list[int]] | None:
    """Return the votes by the definition, for a training on the rows in the order given."""
    y = np.array(drawn.labels)
    classes = np.unique(y)
    numbers = np.searchsorted(classes, y).tolist()
    orders = [range(len(y))] * clf.n_iter_
    K = len(classes)
    log = clf.mistakes_.updates
    if K == 2:
        signs = [2 * number - 1 for number in numbers]
        learned = reference.train_binary(
            drawn.rows, signs, reference.perceptron(), orders, zero=clf.zero, how=reference.DENSE
        )
        updates = [Update(i, signs[i], -signs[i], tau, c) for i, tau, c in learned.updates]
    else:
        learned = reference.train_multiclass(
            drawn.rows, numbers, K, reference.perceptron(), orders, zero=clf.zero
        )
        rivals = log.rival.tolist()
        assert len(rivals) == len(learned.updates)
        updates = [
            Update(i, numbers[i], rival, tau, c)
            for (i, tau, c), rival in zip(learned.updates, rivals, strict=True)
        ]
    end = len(y) * clf.n_iter_ + 1
    assert clf.survival_.tolist() == survivals(updates, end)
    return count(
        drawn.rows,
        updates,
        tests.tolist(),
        K,
        end,
        constant=1.0,
        how=reference.DENSE,
        positive=SIDES[clf.zero],
    )


@given(
    st.integers(2, 4).flatmap(lambda k: data_sets(integers, n_classes=k)),
    zeros,
    st.integers(1, 3),
)
@tries(200)
def test_it_is_the_definition(drawn: Drawn, zero: str, max_iter: int) -> None:
    """Votes, shares, margins and labels are those of all the weight vectors in plain lists."""
    X, y = np.array(drawn.rows), np.array(drawn.labels)
    if len(np.unique(y)) < 2 or X.shape[1] == 0:
        return
    clf = quiet_fit(VotedPerceptron(max_iter=max_iter, shuffle=False, zero=zero), X, y)
    tests = np.vstack([X, X[::-1] - X, np.zeros((1, X.shape[1]))])
    votes = naive(clf, drawn, tests)
    assert votes is not None
    shares = np.array(votes) / sum(votes[0])
    decided = clf.decision_function(tests)
    if len(clf.classes_) == 2:
        assert decided == pytest.approx(shares[:, 1] - shares[:, 0], abs=1e-15)
    else:
        assert decided.tolist() == shares.tolist()
    ranked = np.sort(votes, axis=1)
    margin = (ranked[:, -1] - ranked[:, -2]) / sum(votes[0])
    assert clf.vote_margin(tests) == pytest.approx(margin, abs=1e-15)
    best = [_most(counts, last=SIDES[zero]) for counts in votes]
    assert clf.predict(tests).tolist() == clf.classes_[best].tolist()


def _most(counts: list[int], *, last: bool) -> int:
    """Return the class with most votes, of equals the first or the last."""
    numbers = range(len(counts))
    return max(reversed(numbers) if last else numbers, key=lambda c: counts[c])


def test_equation_4_17_by_hand() -> None:
    """Four rows of one feature, worked out with pencil and paper."""
    # Rows 1, −1, 2, 3 with labels +, +, −, −, no bias: w is 0, then 1 (row 1 is a mistake), 0 (row
    # 2), −2 (row 3, at zero), and row 4 is right. They last 0, 1, 1 and 2 rows.
    X, y = [[1.0], [-1.0], [2.0], [3.0]], [1, 1, 0, 0]
    clf = quiet_fit(VotedPerceptron(max_iter=1, shuffle=False, fit_intercept=False), X, y)
    assert clf.survival_.tolist() == [0, 1, 1, 2]
    assert clf.n_vectors_ == 4
    # On x = 1: w = 1 votes +, w = 0 ties and votes −, w = −2 votes −: (1 − 1 − 2)/4.
    assert clf.decision_function([[1.0], [-1.0]]).tolist() == [-0.5, 0.0]
    assert clf.predict([[1.0], [-1.0]]).tolist() == [0, 0]  # no side has more: the first class
    assert clf.vote_margin([[1.0], [-1.0]]).tolist() == [0.5, 0.0]


@given(data_sets(integers, n_classes=3).filter(lambda d: d.rows[0]), st.integers(1, 4))
def test_batches_are_one_pass(drawn: Drawn, size: int) -> None:
    """partial_fit in batches, sparse and dense in turn, is one pass of fit: the same votes."""
    X, y = np.array(drawn.rows), np.array(drawn.labels)
    if len(np.unique(y)) < 2:
        return
    whole = quiet_fit(VotedPerceptron(max_iter=1, shuffle=False), X, y)
    stream = VotedPerceptron()
    for start in range(0, len(y), size):
        part = X[start : start + size]
        form = sparse.csr_array(part) if start % 2 else part
        stream.partial_fit(form, y[start : start + size], classes=np.unique(y))
    assert stream.survival_.tolist() == whole.survival_.tolist()
    assert stream.n_vectors_ == whole.n_vectors_
    assert (stream.decision_function(X) == whole.decision_function(X)).all()
    assert (stream.decision_function(sparse.csr_array(X)) == whole.decision_function(X)).all()


def test_classes_may_come_at_any_call() -> None:
    """Vectors from before a class was known go on voting for those that they knew."""
    clf = VotedPerceptron()
    corners = {"m": [1, 0, 0, 0], "t": [0, 1, 0, 0], "a": [0, 0, 1, 0], "z": [0, 0, 0, 1]}
    known: list[str] = []
    for label in corners:
        known.append(label)
        for _ in range(100 if label == "z" else 10):
            for k in known:
                clf.partial_fit([corners[k]], [k])
        assert clf.classes_.tolist() == sorted(known)
    assert clf.predict(list(corners.values())).tolist() == list(corners)
    shares = clf.decision_function([corners["m"]])[0]
    assert shares.sum() == pytest.approx(1.0)
    # z came last, and the vectors of 60 rows before know nothing of its corner.
    assert 0.0 < clf.decision_function([corners["z"]])[0, 3] < 1.0


def test_one_class_alone_has_all_votes() -> None:
    """Before a second class is known every row is of the first, for sure."""
    clf = VotedPerceptron().partial_fit([[1.0], [2.0]], ["yes", "yes"])
    assert clf.predict([[-5.0]]).tolist() == ["yes"]
    assert clf.vote_margin([[-5.0]]).tolist() == [1.0]
    assert clf.survival_.tolist() == [2]


def test_an_overflowing_batch_is_not_remembered() -> None:
    """Votes, like weights, stay as they were before the rows that broke the model."""
    clf = VotedPerceptron().partial_fit([[1.0], [-2.0]], [1, 0])
    before = clf.survival_.tolist(), clf.decision_function([[1.0]]).tolist()
    with pytest.raises(WeightOverflowError, match="which are not learned"):
        clf.partial_fit([[-1.7e308], [-1.7e308]], [1, 1])
    assert (clf.survival_.tolist(), clf.decision_function([[1.0]]).tolist()) == before


def test_a_row_beyond_all_numbers_is_named() -> None:
    """An activation that overflows is told with its row, as of every classifier."""
    clf = VotedPerceptron().fit([[1e200], [-1e200]], [1, 0])
    with pytest.raises(WeightOverflowError, match="activation of row 1 overflowed"):
        clf.predict([[1.0], [1e200]])


def test_warm_start_goes_on_voting() -> None:
    """Two warm fits of a pass are one fit of two passes, and a new class may come."""
    X, y = make_blobs(60, centers=3, cluster_std=4.0, random_state=0)
    two = quiet_fit(VotedPerceptron(max_iter=2, shuffle=False), X, y)
    warm = VotedPerceptron(max_iter=1, shuffle=False, warm_start=True)
    quiet_fit(quiet_fit(warm, X, y), X, y)
    assert warm.survival_.tolist() == two.survival_.tolist()
    assert (warm.decision_function(X) == two.decision_function(X)).all()
    quiet_fit(warm, X, np.where(np.arange(60) < 5, 7, y))
    assert warm.classes_.tolist() == [0, 1, 2, 7]
    assert warm.decision_function(X).shape == (60, 4)


def test_weights_to_start_from_are_refused() -> None:
    """They are no sum of mistakes, so nothing could vote for them."""
    with pytest.raises(InputError, match=r"starts from zero.*leave coef_init"):
        VotedPerceptron().fit([[0.0], [1.0]], [0, 1], coef_init=[[1.0]])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_early_stopping_scores_the_vote(n_classes: int, form: Any) -> None:
    """Each score is that of the vote of all vectors so far, and the best pass is what remains."""
    X, y = make_classification(
        300, n_informative=5, n_classes=n_classes, flip_y=0.2, random_state=n_classes
    )
    settings: dict[str, Any] = {
        "early_stopping": True,
        "n_iter_no_change": 3,
        "validation_fraction": 0.3,
    }
    clf = quiet_fit(VotedPerceptron(max_iter=12, **settings), form(X), y)
    scores = [record.validation_score for record in clf.history_]
    assert clf.best_iter_ == int(np.argmax(scores)) + 1
    # The same rows are held out whenever the seed is the same, so a shorter run is a prefix.
    for passes in (1, clf.best_iter_):
        shorter = quiet_fit(VotedPerceptron(max_iter=passes, **settings), form(X), y)
        assert [r.validation_score for r in shorter.history_] == scores[:passes]
    assert clf.survival_.tolist() == shorter.survival_.tolist()
    assert (clf.decision_function(X) == shorter.decision_function(X)).all()
    learned = _learned_rows(X, y, settings)
    assert clf.survival_.sum() == clf.best_iter_ * len(learned)
    held_out = np.setdiff1d(np.arange(300), learned)
    assert shorter.score(X[held_out], y[held_out]) == pytest.approx(scores[clf.best_iter_ - 1])


def _learned_rows(X: NDArray[Any], y: NDArray[Any], settings: dict[str, Any]) -> NDArray[Any]:
    """Return the rows that are not held out: a margin that none reaches makes each one teach."""
    eager = quiet_fit(VotedPerceptron(max_iter=1, margin=1e9, **settings), X, y)
    return np.unique(eager.mistakes_.updates.row)


def test_early_stopping_of_a_warm_start_counts_earlier_votes() -> None:
    """The score after a further pass is that of earlier and new vectors together."""
    X, y = make_classification(200, flip_y=0.2, random_state=0)
    settings: dict[str, Any] = {
        "early_stopping": True,
        "validation_fraction": 0.3,
        "n_iter_no_change": 50,
    }
    warm = VotedPerceptron(max_iter=1, warm_start=True, **settings)
    quiet_fit(quiet_fit(warm, X, y), X, y)
    held_out = np.setdiff1d(np.arange(200), _learned_rows(X, y, settings))
    score = warm.history_[-1].validation_score
    assert warm.score(X[held_out], y[held_out]) == pytest.approx(score)


def test_averaging_is_the_stand_in() -> None:
    """coef_ is that of the averaged perceptron; last weights, average and vote share a training."""
    X, y = make_classification(300, flip_y=0.1, random_state=1)
    voted, mean, last = (
        quiet_fit(kind(max_iter=3), X, y)
        for kind in (VotedPerceptron, AveragedPerceptron, Perceptron)
    )
    assert (voted.coef_ == mean.coef_).all()
    assert (voted.intercept_ == mean.intercept_).all()
    assert voted.n_mistakes_ == last.n_mistakes_
    assert why(voted, X, X[0]).total == pytest.approx(mean.decision_function(X[:1])[0])


def test_it_can_be_copied() -> None:
    """Pickled and cloned like any estimator; a copy grows by itself."""
    clf = VotedPerceptron().partial_fit([[1.0], [2.0]], [1, 0])
    twin = pickle.loads(pickle.dumps(clf))  # noqa: S301  # ours
    twin.partial_fit([[3.0]], [1])
    assert clf.survival_.tolist() == [0, 1, 1]
    assert twin.survival_.tolist() == [0, 1, 1, 1]
    with pytest.raises(AttributeError, match="not fitted yet"):
        _ = clone(clf).survival_


@pytest.mark.parametrize("labels", [["no", "yes"], [0, 1, 2]])
def test_saved_and_loaded(tmp_path: Path, labels: list[Any]) -> None:
    """What comes back from a file votes the same and goes on the same."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 6)), rng.choice(labels, 80)
    clf = quiet_fit(VotedPerceptron(max_iter=2, zero="positive"), X, y)
    save(clf, tmp_path / "m")
    back = load(tmp_path / "m")
    assert back.get_params() == clf.get_params()
    for each in (clf, back):
        each.partial_fit(X[:9], y[::-1][:9])
    assert back.survival_.tolist() == clf.survival_.tolist()
    assert (back.coef_ == clf.coef_).all()
    assert (back.decision_function(X) == clf.decision_function(X)).all()
