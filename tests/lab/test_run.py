from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rosenblatt import FeatureConjunctions, KernelPerceptron
from rosenblatt.errors import InputError
from rosenblatt.lab.document import Document
from rosenblatt.lab.run import Run
from rosenblatt.lab.space import Space, mapped
from rosenblatt.lab.toy_sets import TOY_SETS, toy_set
from rosenblatt.tracing import Trace, trace
from tests.examples import tries
from tests.lab.documents import documents, labels_of

LIBRARY_KERNELS = {"polynomial": "poly", "rbf": "rbf"}
SHUFFLES: dict[str, Any] = {"given": False, "once": "once", "every pass": True}


def library_trace(document: Document, X: NDArray[Any]) -> Trace:
    """Return the trace that the library makes of rows under the settings of a document."""
    return trace(
        X,
        labels_of(document),
        rule=document.rule,
        C=document.C,
        eta0=document.eta0,
        margin=document.margin,
        averaged=True,
        shuffle=SHUFFLES[document.order],
        zero=document.zero,
        max_iter=document.max_iter,
        random_state=document.seed,
    )


def check_against(document: Document, steps: Trace, tolerance: float = 0.0) -> None:
    """Hold every step of a run against a trace; bit for bit unless a tolerance is given."""
    run = Run(document)
    at = 0
    for step in steps:
        at = run.place(at, "step")
        moment = run.moment(at)
        visit = moment.visit
        assert visit is not None
        found = visit.pass_, visit.row, visit.mistake
        assert found == (step.pass_, step.row, step.mistake)
        assert visit.activation == pytest.approx(step.activation, rel=tolerance, abs=tolerance)
        assert visit.tau == pytest.approx(step.step, rel=tolerance, abs=tolerance)
        if not run.space.has_kernel:
            assert moment.weights.tolist() == [*step.w, step.b]
            assert step.average_w is not None
            assert moment.average.tolist() == [*step.average_w, step.average_b]
    assert run.place(at, "step") == at == len(steps)
    assert run.ended
    assert run.stop_reason == steps.stop_reason


@given(documents(), st.sampled_from(["none", "conjunction", "pairs"]))
@tries(60)
def test_equals_trace(document: Document, name: str) -> None:
    """Step by step, weights and their average are those of ``trace``, bit for bit."""
    if len(set(labels_of(document))) == 2:
        document = replace(document, map=name)
        check_against(document, library_trace(document, mapped(document.X, name)))


@pytest.mark.parametrize("name", TOY_SETS)
def test_toy_sets_equal_trace(name: str) -> None:
    """So they are on every toy set."""
    document = replace(toy_set(name), max_iter=5)
    check_against(document, library_trace(document, document.X))


@given(documents(kernel="polynomial", degree=2, gamma=0.5))
@tries(40)
def test_kernel_equals_trace_in_its_features(document: Document) -> None:
    """A polynomial kernel learns as its explicit features do (but for ties, which round)."""
    if len(set(labels_of(document))) < 2:
        return
    generator = np.random.default_rng(3)  # no activation is then zero by chance
    shaken = document.X + generator.normal(size=document.X.shape) / 10
    points = tuple(
        (a, b, s) for (a, b), s in zip(shaken.tolist(), document.y.tolist(), strict=True)
    )
    document = replace(document, points=points)
    a, b = document.X.T
    one = np.full(len(a), document.coef0)
    half, root = document.gamma, np.sqrt(2.0)
    columns = [half * a * a, half * b * b, root * half * a * b]
    columns += [np.sqrt(2 * half) * a, np.sqrt(2 * half) * b, one]
    check_against(document, library_trace(document, np.column_stack(columns)), 1e-9)


@pytest.mark.parametrize("kernel", ["polynomial", "rbf"])
@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_kernel_equals_trace_in_coordinates(kernel: str, rule: str) -> None:
    """Any kernel learns as coordinates do that have its inner products."""
    document = replace(toy_set("circles"), kernel=kernel, rule=rule, max_iter=4)
    steps = library_trace(document, Space(document).features())
    check_against(document, steps, 1e-8)


@pytest.mark.parametrize("kernel", ["polynomial", "rbf"])
def test_kernel_perceptron(kernel: str) -> None:
    """The run is that of the library's own kernel perceptron: the same mistakes, the same sides."""
    document = replace(toy_set("circles"), kernel=kernel, gamma=0.7, max_iter=10)
    given: dict[str, Any] = {"kernel": LIBRARY_KERNELS[kernel], "gamma": 0.7, "coef0": 1.0}
    clf = KernelPerceptron(**given, degree=2, memory="last", shuffle=False, max_iter=10)
    clf.fit(document.X, document.y)
    run = Run(document)
    at = run.place(0, "end")
    places = np.random.default_rng(0).uniform(-2, 2, (50, 2))
    assert clf.n_mistakes_ == sum(visit.mistake for visit in run.visits)
    found = run.space.field(places)(run.moment(at).weights)
    np.testing.assert_allclose(found, clf.decision_function(places), rtol=1e-9, atol=1e-12)


def test_conjunction_is_the_library_s() -> None:
    """The map x₁ ∧ x₂ is that of FeatureConjunctions; pairs add the squares."""
    X = toy_set("overlapping").X
    np.testing.assert_array_equal(mapped(X, "conjunction"), FeatureConjunctions().fit_transform(X))
    assert mapped(np.array([[2.0, 3.0]]), "pairs").tolist() == [[2, 3, 4, 6, 9]]


def test_ways() -> None:
    """One goes by an example, a mistake, a pass, to the end, back and to the start."""
    run = Run(replace(toy_set("xor"), zero="negative", max_iter=3))
    assert run.place(0) == 0
    assert run.place(0, "step") == 1
    assert not run.visits[0].mistake  # row 0 is right under this convention
    assert run.place(0, "mistake") == 2
    assert run.place(2, "pass") == 4
    assert run.place(4, "pass") == 8
    assert run.place(3, "back") == 2
    assert run.place(0, "back") == 0
    assert run.place(3, "end") == 12
    assert run.place(12, "pass") == 12
    assert run.place(12, "start") == 0
    assert run.place(99) == 12
    with pytest.raises(InputError, match="A way to go must be one of stay, start"):
        run.place(0, "up")


def test_is_followed_no_further_than_asked() -> None:
    """A training goes on only as far as somebody looks, and then to the same end."""
    document = replace(toy_set("overlapping"), max_iter=50)
    run = Run(document)
    run.place(0, "step")
    assert len(run.visits) == 2
    assert not run.ended
    whole = Run(document)
    whole.place(0, "end")
    assert [run.place(0, "end"), run.visits] == [3000, whole.visits]


@pytest.mark.parametrize("settings", [{}, {"kernel": "rbf"}, {"rule": "pa", "map": "pairs"}])
def test_no_points(settings: dict[str, Any]) -> None:
    """Without points, and with points of one class, there is nothing to learn and no error."""
    run = Run(Document(**settings))
    assert run.place(0, "end") == 0
    assert run.ended
    alone = Run(Document(points=((1.0, 2.0, 1), (1.0, 2.0, 1)), **settings))
    alone.place(0, "end")
    assert alone.stop_reason == "converged"
