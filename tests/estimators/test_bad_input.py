"""Bad input: the sentence the user sees."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from rosenblatt import AveragedPerceptron, PassiveAggressiveClassifier, Perceptron
from rosenblatt.errors import InputError

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
Y = np.array([0, 1, 0])


def spoiled(row: int, column: int, value: float) -> Any:
    """Return X with one value changed."""
    bad = X.copy()
    bad[row, column] = value
    return bad


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (spoiled(2, 1, np.nan), Y, r"Row 2 of X, feature 1, is NaN, a missing value: fill it in"),
        (spoiled(1, 0, np.inf), Y, r"Row 1 of X, feature 0, is inf, an infinity"),
        (spoiled(1, 0, -np.inf), Y, r"Row 1 of X, feature 0, is -inf, an infinity"),
        (sparse.csr_array(spoiled(2, 1, np.nan)), Y, r"Row 2 of X, feature 1, is NaN"),
        (pd.DataFrame(spoiled(2, 1, np.nan), columns=["a", "b"]), Y, r"feature 1 \('b'\), is NaN"),
        (X[0], Y, "Expected 2D array, got 1D array instead"),
        (X, Y[:2], "inconsistent numbers of samples"),
        (X[:0], Y[:0], r"0 sample\(s\)"),
        (X[:, :0], Y, r"0 feature\(s\)"),
        (X, [7, 7, 7], "y must hold at least two classes; got one class, 7, in 3 rows"),
        (X, [0.5, 1.2, 3.7], "Unknown label type"),
        (X, [[0, 1], [1, 0], [1, 1]], "y should be a 1d array"),
        (X, [0, 1, np.nan], "Input y contains NaN"),
        (X, np.array([0, 1, 0], object), "Unknown label type"),
        (X, np.array(["a", 1, "b"], object), "y holds labels of different kinds, int and str"),
        (X.astype(complex), Y, "Complex data not supported"),
        ([["a", "b"]] * 3, Y, "could not convert string to float"),
    ],
)
def test_data(rows: Any, labels: Any, message: str) -> None:
    """What is wrong, and where, in one sentence."""
    with pytest.raises(ValueError, match=message):
        Perceptron().fit(rows, labels)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_words(frame: Any) -> None:
    """Columns of words are named, with what makes numbers of them."""
    X = frame({"size": [1.0, 2.0, 3.0], "colour": ["red", "green", "red"]})
    message = "^Column 'colour' of X holds more than numbers: make features of it with "
    with pytest.raises(InputError, match=f"{message}rosenblatt.TableEncoder, as in "):
        Perceptron().fit(X, [0, 1, 0])


def test_csr_with_an_index_beyond_its_columns() -> None:
    """A broken matrix is refused before it can write beyond the weights."""
    broken = sparse.csr_array(X)
    broken.indices[0] = 77
    with pytest.raises(InputError, match="X is not a valid CSR matrix"):
        Perceptron().fit(broken, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_iter": 0}, "max_iter of Perceptron must be an integer of at least 1; got 0."),
        ({"max_iter": 2.5}, "max_iter of Perceptron must be an integer of at least 1; got 2.5."),
        ({"max_iter": True}, "max_iter of Perceptron must be an integer of at least 1; got True."),
        ({"eta0": 0.0}, "eta0 of Perceptron must be a finite number above 0; got 0.0."),
        ({"eta0": np.nan}, "eta0 of Perceptron must be a finite number above 0; got nan."),
        ({"eta0": np.inf}, "eta0 of Perceptron must be a finite number above 0; got inf."),
        ({"margin": -1}, "margin of Perceptron must be a finite number of at least 0; got -1."),
        ({"shuffle": "twice"}, "must be True, False, 'once' or 'full'; got 'twice'."),
        ({"zero": 0}, "must be 'mistake', 'negative' or 'positive'; got 0."),
        ({"validation_fraction": 1.0}, "must be a number between 0 and 1; got 1.0."),
        ({"n_iter_no_change": 0}, "must be an integer of at least 1; got 0."),
        ({"time_limit": -1.0}, "must be None or a number of seconds above 0; got -1.0."),
        ({"class_weight": "even"}, 'must be None, "balanced" or a dictionary of class: weight'),
        ({"random_state": -1}, "random_state of Perceptron must be None, an integer of at least 0"),
        ({"random_state": "seed"}, "random_state of Perceptron must be None, an integer"),
        ({"fit_intercept": "yes"}, "fit_intercept of Perceptron must be True or False; got 'yes'."),
        ({"observers": ["not callable"]}, "observers of Perceptron must be None or a sequence of"),
        ({"verbose": "loud"}, "verbose of Perceptron must be True, False or an integer"),
    ],
)
def test_parameters(parameters: dict[str, Any], message: str) -> None:
    """Which parameter of what must be what, and what came."""
    with pytest.raises(InputError) as caught:
        Perceptron(**parameters).fit(X, Y)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0.0}, "must be a number above 0; got 0.0."),
        ({"C": -1.0}, "must be a number above 0"),
        ({"C": np.nan}, "must be a number above 0"),
        ({"loss": "log"}, "must be 'hinge' or 'squared_hinge'; got 'log'."),
        ({"average": 10}, "average of PassiveAggressiveClassifier must be True or False; got 10."),
    ],
)
def test_passive_aggressive_parameters(parameters: dict[str, Any], message: str) -> None:
    """The same for the parameters of the passive-aggressive learner."""
    with pytest.raises(InputError) as caught:
        PassiveAggressiveClassifier(**parameters).fit(X, Y)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_weight": [1.0, 2.0]}, "must be one number a row, 3 in all; got shape (2,)"),
        ({"sample_weight": [1.0, np.nan, 1.0]}, "at least 0; the weight of row 1 is nan"),
        ({"sample_weight": [1.0, 1.0, -2.0]}, "at least 0; the weight of row 2 is -2.0"),
        ({"sample_weight": [0.0, 0.0, 0.0]}, "Every sample_weight is zero"),
        ({"sample_weight": [1.0, 0.0, 1.0]}, "at least two classes; got one class, 0, in 3 rows"),
        ({"coef_init": [[1.0]]}, "coef_init must have shape (1, 2); got (1, 1)"),
        ({"coef_init": [[1.0, np.nan]]}, "coef_init must be finite numbers"),
        ({"intercept_init": [1.0, 2.0]}, "intercept_init must have shape (1,); got (2,)"),
    ],
)
def test_options_of_fit(options: dict[str, Any], message: str) -> None:
    """Weights and starting points are checked too."""
    with pytest.raises(InputError) as caught:
        Perceptron().fit(X, Y, **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({5: 1.0}, "class_weight= names 5, which is not a class; the classes are [0, 1]"),
        ({0: -1.0}, "class_weight= of 0 must be a number of at least 0; got -1.0"),
    ],
)
def test_class_weights(weights: dict[int, float], message: str) -> None:
    """A weight for no class, or below zero."""
    with pytest.raises(InputError) as caught:
        Perceptron(class_weight=weights).fit(X, Y)
    assert message in str(caught.value)


@pytest.mark.parametrize("classifier", [Perceptron, AveragedPerceptron])
def test_prediction(classifier: Any) -> None:
    """Another number of features, or no fit before."""
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError, match=f"This {classifier.__name__} instance is not fitted"):
        classifier().predict(X)
    with pytest.raises(AttributeError, match="is not fitted yet"):
        _ = classifier().coef_
    clf = classifier().fit([[1.0], [-1.0]], [0, 1])
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 1 features"):
        clf.predict(X)
    with pytest.raises(ValueError, match="Row 0 of X, feature 0, is NaN"):
        clf.predict([[np.nan]])


def test_activations_that_overflow() -> None:
    """A prediction that float64 cannot hold is reported, not returned."""
    clf = Perceptron().fit([[1e10], [-1e10]], [0, 1])
    with pytest.raises(OverflowError, match="The activation of row 1 overflowed"):
        clf.decision_function([[1.0], [1e305]])


def test_huge_but_finite_values_are_no_error() -> None:
    """A sum that overflows does not make its terms infinite: they are not called so."""
    wide = np.full((2, 5000), 1e306)
    wide[1] *= -1
    clf = Perceptron(fit_intercept=False).fit(wide, [0, 1])
    assert clf.converged_
    with pytest.raises(OverflowError, match="The activation of row 0 overflowed"):
        clf.predict(wide)
