"""A new estimator is one class: what it declares is all that the house needs to know of it."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from rosenblatt import AveragedPerceptron, explain, load, save
from rosenblatt.data.files import Layout
from rosenblatt.errors import InputError
from rosenblatt.estimators.base import CLASSES, OnlineClassifier
from rosenblatt.estimators.documentation import PARAMETERS, estimator_class
from rosenblatt.models.continuation import learn_files
from rosenblatt.models.learner import Learner
from rosenblatt.models.model import Model
from rosenblatt.models.online import OnlineLearner

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = np.array(["no", "no", "no", "yes"])


@estimator_class(PARAMETERS | {"boldness": "Length of a step, above 0."})
class BoldPerceptron(OnlineClassifier):
    """The averaged perceptron with a length of step by another name.

    {parameters}
    """

    boldness: float = 2.0

    def _learner(self) -> Learner:
        values = {"eta0": self.boldness}
        return Learner("perceptron", "average", values, self.max_iter, shuffle=self.shuffle)


@pytest.fixture
def clf() -> BoldPerceptron:
    """Return a fitted one."""
    return BoldPerceptron(boldness=4.0, shuffle=False).fit(X, Y)


def test_it_learns_as_it_says(clf: BoldPerceptron) -> None:
    """Fit, partial_fit and clone come with the base, and the parameters with the docstring."""
    same = AveragedPerceptron(eta0=4.0, max_iter=10, shuffle=False).fit(X, Y)
    assert clf.coef_.tolist() == same.coef_.tolist()
    assert clf.predict(X).tolist() == Y.tolist()
    stream = clone(clf)
    assert stream.boldness == 4.0
    for x, y in zip(X, Y, strict=True):
        stream.partial_fit([x], [y], classes=["no", "yes"])
    assert stream.n_iter_ == 4
    assert "boldness : float, default 2.0\n    Length of a step, above 0." in str(
        BoldPerceptron.__doc__
    )
    assert explain(clf, X[3]).terms[0].amount == clf.coef_[0, 0]


def test_it_is_stored(clf: BoldPerceptron, tmp_path: Path) -> None:
    """The file has the parameters of the class and a description for those who lack the class."""
    path = tmp_path / "bold.model"
    save(clf, path)
    again = load(path)
    assert isinstance(again, BoldPerceptron)
    assert again.get_params() == clf.get_params()
    assert again.partial_fit(X, Y).coef_.tolist() == clf.partial_fit(X, Y).coef_.tolist()
    model = Model.load(path)
    assert (model.learner, model.options["boldness"]) == ("BoldPerceptron", 4.0)
    assert model.made_by.learner == Learner(
        "perceptron", "average", {"eta0": 4.0}, 10, shuffle=False
    )
    assert model.predict(X).tolist() == Y.tolist()


def test_it_goes_on_without_the_class(clf: BoldPerceptron, tmp_path: Path) -> None:
    """Floors below learn on by the description."""
    path, rows = tmp_path / "bold.model", tmp_path / "rows.svm"
    save(clf, path)
    online = OnlineLearner.from_model(path)
    rows.write_text("".join(f"{y} 1:{a:g} 2:{b:g}\n" for (a, b), y in zip(X, Y, strict=True)))
    for x, y in zip(X, Y, strict=True):
        online.learn_one(x, y)
    clf.partial_fit(X, Y)
    assert online.model_.deciding_weights.tolist() == clf.model_.deciding_weights.tolist()
    assert online.model_.learner == "AveragedPerceptron"  # which has the same learner
    more = learn_files(Model.load(path), str(rows), layout=Layout(zero_based=False))
    assert more.deciding_weights.tolist() == clf.model_.deciding_weights.tolist()


def test_a_class_that_is_not_there(
    clf: BoldPerceptron, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody defined the class, the sentence says what to do."""
    path = tmp_path / "bold.model"
    save(clf, path)
    monkeypatch.delitem(CLASSES, "BoldPerceptron")
    sentence = "there is no class BoldPerceptron here: import the module that defines it."
    with pytest.raises(InputError, match=f"cannot be used: {sentence}"):
        load(path)
    with pytest.raises(InputError, match="save takes a fitted Perceptron, "):
        save(clf, path)
