"""Training on workers in processes of their own: the bits of one process, where the data are."""

import warnings
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
import pytest
from distributed import Client
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from rosenblatt import Perceptron, load
from rosenblatt.distributed import (
    DaskAveragedPerceptron,
    DaskConfidenceWeightedClassifier,
    DaskPassiveAggressiveClassifier,
    DaskPerceptron,
    ShardWarning,
)
from rosenblatt.distributed.engine import DaskEngine, shards_of
from rosenblatt.distributed.mixing import EpochSettings, Start, whole
from rosenblatt.distributed.shards import Recipe, RowPart, Shard
from rosenblatt.errors import InputError
from rosenblatt.rules import Perceptron as PerceptronRule
from rosenblatt.training.state import State
from tests.distributed.clusters import rows, same_model, threads
from tests.examples import dense


def arrays(X: Any, y: Any, chunk: int) -> tuple[Any, Any]:
    """Return rows and labels as Dask arrays in chunks of so many rows."""
    return da.from_array(X, chunks=(chunk, -1)), da.from_array(y, chunks=chunk)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("kind", "n_classes", "noise", "chunk", "form", "options"),
    [
        (DaskPerceptron, 2, 0.0, 70, "dense", {"max_iter": 3}),
        (DaskPerceptron, 2, 2.0, 400, "sparse", {"n_shards": 5, "mixing": "mistakes"}),
        (DaskAveragedPerceptron, 4, 2.0, 90, "sparse", {"max_iter": 2, "shuffle_shards": True}),
        (DaskAveragedPerceptron, 4, 0.0, 90, "dense", {"max_iter": 2}),
        (DaskAveragedPerceptron, 2, 0.0, 90, "sparse", {"n_shards": 6, "early_stopping": True}),
        (DaskPassiveAggressiveClassifier, 3, 2.0, 150, "dense", {"class_weight": "balanced"}),
        (DaskPerceptron, 2, 2.0, 64, "dense", {"n_shards": 1, "shuffle": "once"}),
        (DaskConfidenceWeightedClassifier, 2, 2.0, 90, "dense", {}),
        (DaskConfidenceWeightedClassifier, 3, 2.0, 90, "sparse", {"rule": "scw1", "average": True}),
        (DaskConfidenceWeightedClassifier, 2, 2.0, 64, "sparse", {"n_shards": 1, "r": 0.1}),
    ],
)
def test_bits_of_the_simulation(
    client: Client,
    kind: Any,
    n_classes: int,
    noise: float,
    chunk: int,
    form: str,
    options: dict[str, Any],
) -> None:
    """Workers give the weights of one process, bit for bit, however the rows are divided.

    On data that can be separated and that cannot, with dense and with sparse blocks.
    """
    X, y = rows(n_classes=n_classes, noise=noise)
    clf = kind(**({"client": client, "n_shards": 3, "max_iter": 4} | options))
    blocks, labels = arrays(X, y, chunk)
    if form == "sparse":
        X, blocks = sparse.csr_matrix(X), blocks.map_blocks(sparse.csr_matrix)
    assert same_model(clf.fit(blocks, labels), clf.simulate(X, y))


def test_converged_is_proved(client: Client) -> None:
    """On separable data it ends in an epoch without a mistake, and the verdict has a witness."""
    X, y = rows(noise=0.0)
    clf = DaskPerceptron(client=client, n_shards=4, max_iter=500).fit(*arrays(X, y, 100))
    assert clf.converged_
    assert clf.history_[-1].mistakes == 0
    assert clf.n_wrong_ == 0
    assert clf.score(X, y) == 1.0
    verdict: Any = clf.verdict_
    assert verdict.status == "separable"
    leads = np.where(y == "bee", 1, -1) * (X @ verdict.w + verdict.b) / np.linalg.norm(verdict.w)
    assert verdict.margin_low == pytest.approx(leads.min(), rel=1e-9)
    assert verdict.radius == pytest.approx(np.sqrt((X**2).sum(axis=1).max() + 1), rel=1e-9)
    assert clf.n_mistakes_ <= 4 * verdict.bound


def test_data_frames_keep_names_and_labels(client: Client) -> None:
    """A data frame is learned from by partitions, and the features keep their names."""
    X, y = rows(150, 3)
    frame = pd.DataFrame(X, columns=["tall", "wide", "old"])
    label = pd.Series(y, name="animal")
    ddf, labels = dd.from_pandas(frame, npartitions=4), dd.from_pandas(label, npartitions=4)
    clf = DaskAveragedPerceptron(client=client, n_shards=3, max_iter=3).fit(ddf, labels)
    assert clf.feature_names_in_.tolist() == ["tall", "wide", "old"]
    assert same_model(clf, clf.simulate(frame, y))
    predicted = clf.predict(ddf)
    assert isinstance(predicted, dd.Series)
    assert predicted.compute().tolist() == clf.to_local().predict(frame).tolist()
    assert predicted.compute().index.tolist() == frame.index.tolist()


def test_predictions_are_lazy(client: Client) -> None:
    """Nothing is computed until somebody asks, and then what the plain estimator says."""
    X, y = rows(200, 6, 3)
    clf = DaskAveragedPerceptron(client=client, n_shards=2, max_iter=2).fit(*arrays(X, y, 50))
    plain = clf.to_local()
    computed = []

    def look(block: Any) -> Any:
        computed.append(len(block))
        return block

    big = da.from_array(X, chunks=(64, 3)).map_blocks(look, meta=X[:0])
    labels, scores = clf.predict(big), clf.decision_function(big)
    assert isinstance(labels, da.Array)
    assert labels.dtype == plain.classes_.dtype
    assert scores.shape == (200, 3)
    assert not computed
    with_threads = {"scheduler": "sync"}
    assert labels.compute(**with_threads).tolist() == plain.predict(X).tolist()
    assert np.array_equal(scores.compute(**with_threads), plain.decision_function(X))
    assert computed
    assert clf.predict(X).tolist() == plain.predict(X).tolist()


def test_model_file(client: Client, tmp_path: Any) -> None:
    """What is saved is the ordinary model, which needs no Dask to be used."""
    X, y = rows(100)
    clf = DaskPerceptron(client=client, n_shards=2, max_iter=2, margin=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        clf.fit(*arrays(X, y, 50))
    clf.save(tmp_path / "ants.model")
    loaded = load(tmp_path / "ants.model")
    assert type(loaded) is Perceptron
    assert loaded.margin == 0.1
    assert same_model(loaded, clf)


def _try_to_write(shard: Shard, start: Start) -> tuple[bool, float]:
    """Do in a worker what no kernel may do."""
    weights = start.weights[0]
    try:
        weights[0] = 99.0
    except ValueError:
        return shard.number >= 0, float(weights.sum())
    return False, float(weights.sum())


def test_shards_stay_and_weights_cannot_be_written(client: Client) -> None:
    """Shards are where they were after some epochs, and what was broadcast refuses writing."""
    X, y = rows(120)
    numbers = (y == "bee").astype(np.int32)
    parts = client.scatter([RowPart(dense(X[k : k + 60]), numbers[k : k + 60]) for k in (0, 60)])
    shards = shards_of(client, parts, [60, 60], 4, Recipe(8, 2, seed=0))
    engine = DaskEngine(client, shards, 2)
    homes = client.who_has(shards)
    assert len({home for (home,) in homes.values()}) == 2
    state = State.zeros(8, 2, averaged=True)
    state.weights[:] = np.arange(9.0)
    start = Start.of(state)
    settings = EpochSettings(PerceptronRule(), 0, shuffle=True, seed=0, averaged=True)
    first = engine.epoch(start, 1, settings)
    assert engine.gathered(_try_to_write, start) == [(True, 36.0)] * 4
    again = engine.epoch(start, 1, settings)
    assert first.counts == again.counts
    assert np.array_equal(whole(first.change, (9,)), whole(again.change, (9,)))
    assert client.who_has(shards) == homes


def test_eight_workers_and_default_shards() -> None:
    """Eight workers give the bits of one process; without n_shards there are as many as workers."""
    X, y = rows()
    with threads(8) as client:
        given = DaskAveragedPerceptron(client=client, n_shards=5, max_iter=3)
        assert same_model(given.fit(*arrays(X, y, 37)), given.simulate(X, y))
        seen: list[Any] = []
        default = DaskAveragedPerceptron(
            max_iter=2, observers=[seen.append]
        )  # the client made last
        default.fit(*arrays(X, y, 100))
    eight = DaskAveragedPerceptron(n_shards=8, max_iter=2).simulate(X, y)
    assert same_model(default, eight)
    assert len(seen) == 2


def test_sorted_labels_are_named(client: Client) -> None:
    """Data sorted by label warn with the shards that lack a class; dealt out they do not."""
    X, y = rows(noise=0.1)
    order = np.argsort(y, kind="stable")
    data = arrays(X[order], y[order], 100)
    clf = DaskAveragedPerceptron(client=client, n_shards=4, max_iter=2)
    with pytest.warns(ShardWarning, match=r"[Ss]hard 0 has no row of class 'bee'.*shuffle_shards="):
        clf.fit(*data)
    poor = clf.n_wrong_
    clf.set_params(shuffle_shards=True).fit(*data)  # a warning would be an error
    assert clf.n_wrong_ < poor


def test_the_mixture_is_judged(client: Client) -> None:
    """What the mixture gets wrong is counted, and rows that overlap are not warned of."""
    X, y = rows(noise=3.0)
    clf = DaskPerceptron(client=client, n_shards=2, max_iter=2).fit(*arrays(X, y, 200))
    assert clf.stop_reason_ == "max_iter"
    assert clf.n_wrong_ == int((clf.predict(X) != y).sum())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda X, y: (X.compute(), y), "X must be a Dask array or data frame; got a ndarray"),
        (lambda X, y: (X, y[:50]), "X has 100 rows, but y has 50"),
        (lambda X, _: (X, da.zeros(100, chunks=50)), "at least two classes; got one, 0.0, in all"),
        (
            lambda X, y: (da.where(X[70, 1] == X, np.nan, X), y),
            "Block 1 of X: row 20, feature 1, is nan: fill it in",
        ),
        (lambda X, _: (X, da.random.random(100, chunks=50)), "Unknown label type"),
        (lambda X, y: (X.astype(str).map_blocks(lambda b: b + "x"), y), "could not convert string"),
        (
            lambda X, y: (da.where(X[60, 2] == X, np.inf, X).map_blocks(sparse.csr_matrix), y),
            "Block 1 of X: row 10, feature 2, is inf",
        ),
    ],
)
def test_bad_input(client: Client, change: Any, told: str) -> None:
    """What cannot be learned from is told by a sentence, from wherever it is found."""
    X, y = rows(100)
    given = change(*arrays(X, y, 50))
    with pytest.raises(ValueError, match=told):
        DaskPerceptron(client=client).fit(*given)


def test_bad_parameters(client: Client) -> None:
    """Parameters are checked as those of the plain estimators are."""
    X, y = arrays(*rows(100), 50)
    for options, told in (
        (
            {"mixing": "mean"},
            "mixing of DaskPerceptron must be 'uniform' or 'mistakes'; got 'mean'",
        ),
        ({"n_shards": 0}, "n_shards of DaskPerceptron must be None or an integer of at least 1"),
        ({"n_shards": 101}, "n_shards must be from 1 to the number of rows, 100; got 101"),
        ({"eta0": -1}, "eta0 of DaskPerceptron must be a finite number above 0"),
        ({"client": 3}, "client of DaskPerceptron must be None or a dask.distributed.Client"),
    ):
        with pytest.raises(InputError, match=told):
            DaskPerceptron(**{"client": client, **options}).fit(X, y)
    with pytest.raises(InputError, match="the rule pa1, whose steps differ in length"):
        DaskPassiveAggressiveClassifier(client=client, mixing="mistakes").fit(X, y)
    with pytest.raises(NotFittedError, match="DaskPerceptron is not fitted yet"):
        DaskPerceptron(client=client).predict(X)


def test_plain_estimators_refuse_collections() -> None:
    """scikit-learn would pull everything into one process; the sentence names the right class."""
    X, y = rows(20)
    big, labels = arrays(X, y, 5)
    plain = Perceptron(max_iter=1000)
    with pytest.raises(InputError, match=r"use rosenblatt\.distributed\.DaskPerceptron"):
        plain.fit(big, labels)
    with pytest.raises(InputError, match="y is a Dask collection"):
        plain.fit(X, labels)
    with pytest.raises(InputError, match="X is a Dask collection, and Perceptron would pull all"):
        plain.partial_fit(big, labels)
    plain.fit(X, np.sign(X[:, 0]))
    with pytest.raises(InputError, match="X is a Dask collection"):
        plain.predict(big)


def test_local_clusters_are_not_seen_from_outside(client: Client) -> None:
    """Scheduler and workers listen on the loopback interface alone, and show no pages."""
    here = psutil.Process()
    listening = [
        connection.laddr.ip
        for process in (here, *here.children(recursive=True))
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert len(listening) >= 3
    assert set(listening) == {"127.0.0.1"}
    # Of the pages that it could show, only those are left that say that it is alive.
    port = client.cluster.scheduler.http_server.port
    for page in ("status", "info/main/workers.html", "metrics", "json/counts.json"):
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"http://127.0.0.1:{port}/{page}")
