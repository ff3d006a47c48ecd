from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from scipy import sparse

from rosenblatt import AveragedPerceptron, Perceptron
from rosenblatt.errors import InputError
from rosenblatt.models import pruning
from rosenblatt.models.model import Spread, model_of
from rosenblatt.models.pruning import prune
from rosenblatt.tasks.calibration import Calibration


def data(n_classes: int) -> tuple[Any, Any]:
    """Return rows of six features of very different spread and far from zero, and labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)) * [1, 5, 0.01, 2, 0.001, 1] + [0, 3, 7, 0, 9, 0]
    scores = ((X - X.mean(axis=0)) / X.std(axis=0)) @ rng.normal(size=(6, n_classes))
    return X, scores.argmax(axis=1)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_the_weakest_features_go_and_the_errors_are_those_of_predict(
    n_classes: int, form: Any
) -> None:
    """By |weight| × deviation, worked out here from the data; the model given stays as it is."""
    X, y = data(n_classes)
    fitted = AveragedPerceptron(max_iter=5).fit(form(X), y)
    before = fitted.coef_
    found = prune(fitted, 2, form(X), y)
    spans = np.abs(before[0]) if n_classes == 2 else np.ptp(before, axis=0)
    assert found.dropped.tolist() == np.argsort(spans * X.std(axis=0))[:2].tolist()
    assert not found.model.coef_[:, found.dropped].any()
    assert np.array_equal(fitted.coef_, before)
    assert (found.n_left, found.by) == (4, "weight × deviation")
    assert found.error_before == pytest.approx(1 - fitted.score(form(X), y))
    assert found.error_after == pytest.approx(1 - found.model.score(form(X), y))
    filled = X.copy()
    filled[:, found.dropped] = X[:, found.dropped].mean(axis=0)
    expected = fitted.decision_function(filled)
    assert np.allclose(found.model.decision_function(form(X)), expected)


def test_a_stored_model_uses_the_deviations_that_it_knows() -> None:
    """Without rows the spread of training decides, and probabilities are given up."""
    X, y = data(2)
    fitted = AveragedPerceptron(max_iter=5).fit(X, y)
    model = replace(
        model_of(fitted),
        spread=Spread(X.min(axis=0), X.max(axis=0), X.std(axis=0), len(X)),
        calibration=Calibration(1.0, 0.0, 10),
    )
    found = prune(model, 3)
    assert found.dropped.tolist() == prune(fitted, 3, X, y).dropped.tolist()
    assert found.model.calibration is None
    assert not found.model.deciding_weights[:, found.dropped].any()
    assert found.error_before is None
    assert str(found).endswith("Give rows and labels to see what it costs.")


def test_without_deviations_the_weights_alone_decide_and_it_says_so() -> None:
    """An estimator without rows ranks by |weight|."""
    X, y = data(2)
    fitted = AveragedPerceptron(max_iter=5).fit(X, y)
    found = prune(fitted, 1)
    assert found.by == "weight"
    assert found.dropped.tolist() == [int(np.argmin(np.abs(fitted.coef_)))]


def test_more_than_there_are_leaves_the_bias() -> None:
    """Dropping all features leaves a model that predicts one class."""
    X, y = data(2)
    found = prune(AveragedPerceptron(max_iter=5).fit(X, y), 100, X, y)
    assert found.n_left == 0
    assert len(set(found.model.predict(X))) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": -1}, "The number of features to drop must be an integer of at least 0; got -1"),
        ({"X": [[0.0]]}, "prune needs X and y, or neither; got one of them"),
        (
            {"X": [[0.0], [1.0]], "y": [1]},
            r"y must have one label per row, 2 in all; got shape \(1,\)",
        ),
        ({"model": 3}, "A fitted estimator of rosenblatt or a Model is needed; got a int"),
    ],
)
def test_bad_input_is_told(arguments: dict[str, Any], message: str) -> None:
    """The sentence says what it must be and what came."""
    fitted = Perceptron().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InputError, match=message):
        prune(**cast("Any", {"model": fitted, "k": 1} | arguments))


@pytest.mark.parametrize("bend", [0.5, 1.0, 2.0, 6.0])
def test_sizes_that_are_far_from_linear_are_met(
    bend: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model found is near the size that is asked for, however sizes fall with features."""

    def size(n_dropped: Any) -> int:
        return int(1e6 * (1 - n_dropped / 1e5) ** bend) + 9000

    monkeypatch.setattr(pruning, "file_size", size)
    ends = (0, size(0)), (100_000, size(100_000))
    search: Any = pruning.largest_that_fits
    for wanted in (50_000, 400_000, 900_000):
        dropped, found, n = search(lambda k: k, *ends, 10**5, wanted)
        assert (dropped, found) == (n, size(n))
        assert 0.9 * wanted < found <= wanted
