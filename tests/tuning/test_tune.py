"""The search: the same for the same seed, repeatable as a command, the best so far when it ends."""

import json
import os
import shlex
import signal
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

from rosenblatt import KernelPerceptron, MultilabelClassifier, TableEncoder, load, tune
from rosenblatt.cli.train import train
from rosenblatt.cli.tune import tune as tune_command
from rosenblatt.errors import InputError
from rosenblatt.models.search import Candidate, Search, SearchStatus, Stopped, halving
from rosenblatt.models.train import model_from_files
from rosenblatt.rules import RULES, rule_parameters
from rosenblatt.training.holdout import folds
from rosenblatt.tuning.candidates import candidates, encodings, learners, rungs
from rosenblatt.tuning.tune import tune_files


@pytest.fixture
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try three rules alone, so that few kernels are compiled where there is no cache."""
    found = {rule: RULES[rule] for rule in ("perceptron", "pa1", "arow")}
    monkeypatch.setattr("rosenblatt.tuning.candidates.RULES", found)


def ran(command: Any, *arguments: str) -> Result:
    """Return what a command printed, which must succeed."""
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    return done


def mails(folder: Path) -> str:
    """Write texts of two classes with some noise, so few that a search takes no time."""
    generator = np.random.default_rng(3)
    words = np.array(["buy", "now", "cheap", "see", "you", "soon", "the", "a"])
    lines = []
    for i in range(120):
        spam = i % 3 == 0
        shares = [4, 3, 3, 1, 1, 1, 3, 3] if spam else [1, 1, 1, 3, 3, 4, 3, 3]
        text = " ".join(generator.choice(words, 9, p=np.array(shares) / sum(shares)))
        lines.append(f"{'spam' if spam else 'ham'},{text}")
    path = folder / "mail.csv"
    path.write_text("\n".join(["label,body", *lines, ""]))
    return str(path)


def trials(search: Search) -> list[Any]:
    """Return what was tried, without the times."""
    return [(t.candidate, t.share, t.values, t.passes) for t in search.trials]


@pytest.mark.usefixtures("_few")
def test_the_same_seed_chooses_the_same(tmp_path: Path) -> None:
    """However many threads there are, what is tried and chosen is the same."""
    path = mails(tmp_path)
    given = {"text": "body", "label": "label", "rule": None}
    one = tune_files(path, given, folds=3, n_jobs=1)
    two = tune_files(path, given, folds=3, n_jobs=3)
    assert one.parameters == two.parameters
    assert trials(one.search) == trials(two.search)
    tried = {str(trial.candidate) for trial in one.search.trials}
    assert {"perceptron memory=vote", "arow r=1", "arow r=1 word_pairs=False"} <= tried


@pytest.mark.usefixtures("_few")
def test_the_printed_command_gives_the_same_model(tmp_path: Path) -> None:
    """Training with --tune, and the command that it prints, write the same file."""
    path, first, second = mails(tmp_path), str(tmp_path / "1.model"), str(tmp_path / "2.model")
    given = ["--text", "body", "--validation-fraction", "0.2", "--folds", "3", "--metric", "f1"]
    done = ran(train, path, *given, "--tune", "-o", first)
    line = next(line for line in done.stdout.splitlines() if line.startswith("Command: "))
    words = shlex.split(line.removeprefix("Command: "))
    assert words[:2] == ["rosenblatt", "train"]
    assert "--validation-fraction" in words
    ran(train, *words[2:], "-o", second)
    one, two = load(first).model_, load(second).model_
    np.testing.assert_array_equal(one.weights, two.weights)
    assert one.options == two.options


def test_options_that_are_given_stay(tmp_path: Path) -> None:
    """A rule, a parameter or a memory that is given is not searched; others are."""
    arguments = [mails(tmp_path), "--rule", "pa1", "-C", "0.5", "--no-word-pairs", "--folds", "2"]
    document = json.loads(ran(tune_command, *arguments, "--json").stdout)
    assert {trial["rule"] for trial in document["trials"]} == {"pa1"}
    assert {trial["C"] for trial in document["trials"]} == {0.5}
    assert all("word_pairs" not in trial for trial in document["trials"])
    assert document["command"].count("--rule pa1") == 1
    assert document["ending"] == "finished"


@pytest.mark.usefixtures("_few")
def test_no_time(tmp_path: Path) -> None:
    """A search that ends before anything was tried falls back on the defaults."""
    done = ran(tune_command, mails(tmp_path), "--text", "body", "--time-limit", "1e-9")
    assert "Nothing was tried to its end; these are the defaults." in done.stdout
    assert done.stdout.splitlines()[-1].endswith("--text body")


@pytest.mark.usefixtures("_few")
def test_interrupt_gives_the_best_so_far() -> None:
    """Ctrl-C ends the search; what came to its end decides."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(100, 3))
    y = X[:, 0] > 0
    pressed: list[SearchStatus] = []

    def tell(status: SearchStatus) -> None:
        if status.done and not pressed:
            pressed.append(status)
            os.kill(os.getpid(), signal.SIGINT)

    clf = tune(X, y, folds=2, n_jobs=1, tell=tell)
    assert clf.search_.ending == "interrupted"
    assert len(clf.search_.trials) < len(learners({}, 100)) + 4
    assert clf.score(X, y) > 0.8


@pytest.mark.usefixtures("_few")
def test_kernels_where_there_are_few_rows() -> None:
    """Rings that no line parts are learned by a kernel perceptron, fitted to all rows."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(120, 2))
    y = np.where((X**2).sum(axis=1) > 1.2, "out", "in")
    clf = tune(X, y, folds=3, random_state=1)
    assert isinstance(clf, KernelPerceptron)
    best = clf.search_.best
    assert best is not None
    assert best.mean < 0.15
    assert clf.score(X, y) > 0.9


@pytest.mark.usefixtures("_few")
@pytest.mark.parametrize("metric", ["roc-auc", "log-loss", "balanced-accuracy"])
def test_other_metrics(metric: str) -> None:
    """The best is the best by the metric that was asked for."""
    generator = np.random.default_rng(2)
    X = generator.normal(size=(90, 2))
    y = np.arange(90) % 2
    X += y[:, None]
    search = tune(X, y, metric=metric, folds=2).search_
    means = [trial.mean for trial in search.trials]
    assert search.best is not None
    assert search.best.mean == (min(means) if metric == "log-loss" else max(means))


def tagged(folder: Path, seed: int = 4) -> tuple[str, np.ndarray, np.ndarray]:
    """Write rows of three numbers with several labels or none; return them and which have which."""
    generator = np.random.default_rng(seed)
    X = np.round(generator.normal(size=(150, 3)), 3)
    has = X + generator.normal(scale=0.5, size=X.shape) > 0.4
    tags = [";".join(np.array(["red", "round", "soft"])[row]) for row in has]
    lines = [f"{a},{b},{c},{own}" for (a, b, c), own in zip(X.tolist(), tags, strict=True)]
    path = folder / "rows.csv"
    path.write_text("\n".join(["a,b,c,tags", *lines, ""]))
    return str(path), X, has


@pytest.mark.usefixtures("_few")
@pytest.mark.filterwarnings("ignore:.* stopped after max_iter")
@pytest.mark.parametrize("goal", ["each", "ranking"])
def test_several_labels_are_judged_by_their_order(tmp_path: Path, goal: str) -> None:
    """The value of a fold is the share of labels not ranked first by an estimator of the others."""
    path, X, has = tagged(tmp_path)
    given = {"label": "tags", "label_separator": ";", "goal": goal, "shuffle": False}
    given |= {"scale": False}
    search = tune_files(path, given, ["bins"], folds=3).search
    tried = {str(trial.candidate) for trial in search.trials}
    assert {"pa1 C=0.1", "pa1 memory=last", "perceptron"} <= tried
    assert ("pa1 C=0.3" in tried) == (goal == "each")  # the default of each label by itself
    assert ("arow r=1" in tried) == (goal == "each")
    assert not any("vote" in name or "kernel" in name for name in tried)
    for trial in search.trials:
        chosen = trial.candidate.parameters
        values = {name: chosen[name] for name in rule_parameters() if name in chosen}
        memory = chosen.get("memory", RULES[chosen["rule"]].memory)
        fixed: dict[str, Any] = {"goal": goal, "shuffle": False, "thresholds": False}
        clf = MultilabelClassifier(
            rule=chosen["rule"], memory=memory, parameters=values, max_iter=trial.passes, **fixed
        )
        losses = []
        for train_rows, test_rows in folds(np.zeros(150, int), 3, 0):
            scores = clf.fit(X[train_rows], has[train_rows]).decision_function(X[test_rows])
            first = [np.argsort(-row, kind="stable") for row in scores]
            missed = [
                1 - own[order[: own.sum()]].sum() / own.sum() if own.any() else 0.0
                for own, order in zip(has[test_rows], first, strict=True)
            ]
            losses.append(np.mean(missed))
        assert trial.values == pytest.approx(losses), str(trial.candidate)


@pytest.mark.usefixtures("_few")
def test_the_command_for_several_labels_gives_the_same_model(tmp_path: Path) -> None:
    """The model of tune has thresholds, and is that of train --tune and of the printed command."""
    path = tagged(tmp_path, seed=5)[0]
    files = [str(tmp_path / f"{k}.model") for k in range(3)]
    given = [path, "--label", "tags", "--label-separator", ";", "--folds", "3"]
    told = json.loads(ran(tune_command, *given, "--json", "-o", files[0]).stdout)
    assert told["title"] == "labels not ranked first"
    ran(train, *given, "--tune", "-o", files[1])
    ran(train, *shlex.split(told["command"])[2:], "-o", files[2])
    one, two, three = (load(file).model_ for file in files)
    assert one.thresholds[:-1].any()
    for other in (two, three):
        np.testing.assert_array_equal(one.weights, other.weights)
        np.testing.assert_array_equal(one.thresholds, other.thresholds)
    shown = ran(tune_command, *given, "--goal", "ranking", "--rule", "pa1").stdout
    assert "Best: labels not ranked first " in shown
    assert "--goal ranking" in shown
    assert "--recipe plain" in shown


@pytest.mark.usefixtures("_few")
@pytest.mark.parametrize("goal", ["each", "ranking"])
def test_arrays_of_several_labels(tmp_path: Path, goal: str) -> None:
    """Indicators and sets give what files give, and the best is fitted with thresholds."""
    path, X, has = tagged(tmp_path)
    given = {"label": "tags", "label_separator": ";", "goal": goal, "scale": False}
    files = tune_files(path, given, ["bins"], folds=3).search
    values = {trial.candidate: (trial.values, trial.passes) for trial in files.trials}
    clf: Any = tune(X, has, goal=goal, folds=3)
    search, best = clf.search_, clf.search_.best
    assert {t.candidate: (t.values, t.passes) for t in search.trials} == values
    assert search.title == "labels not ranked first"
    assert (clf.goal, clf.rule, clf.max_iter) == (
        goal,
        best.candidate.parameters["rule"],
        best.passes,
    )
    again = MultilabelClassifier(**clf.get_params())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again.fit(X, has)
    np.testing.assert_array_equal(clf.coef_, again.coef_)
    np.testing.assert_array_equal(clf.thresholds_, again.thresholds_)
    assert clf.thresholds_.any()
    names = np.array(["red", "round", "soft"])
    by_name: Any = tune(X, [set(names[row].tolist()) for row in has], goal=goal, folds=3)
    assert by_name.classes_.tolist() == names.tolist()
    np.testing.assert_array_equal(by_name.predict(X), clf.predict(X))
    assert trials(by_name.search_) == trials(search)


@pytest.mark.usefixtures("_few")
def test_refusals_of_several_labels() -> None:
    """What has no meaning for several labels, or for one, is refused; no time gives defaults."""
    X, y = np.eye(4), [{"a"}, set(), {"a", "b"}, {"b"}]
    wrong: list[dict[str, Any]] = [{"metric": "f1"}, {"class_weight": "balanced"}]
    for given in wrong:
        with pytest.raises(InputError, match="is not available where a row may have several"):
            tune(X, y, **given)
    with pytest.raises(InputError, match="is for rows with several labels"):
        tune(X, [0, 1, 0, 1], goal="each")
    with pytest.raises(InputError, match="There is no goal 'best'"):
        tune(X, y, goal="best")
    with pytest.raises(InputError, match="at least one label"):
        tune(X, [set()] * 4)
    default: Any = tune(X, y, folds=2, time_limit=1e-9)
    assert (default.rule, default.parameters) == ("pa1", {"C": 0.3})
    assert default.search_.ending == "time_limit"


def test_halving_keeps_the_best_and_stops() -> None:
    """A third goes on to three times the rows; the best of the last rung wins."""
    pool = [Candidate((("rule", "pa1"), ("C", float(k)))) for k in range(12)]
    seen: list[tuple[float, float]] = []

    def judge(candidate: Candidate, share: float, fold: int, stopped: Any) -> list[float]:
        del fold, stopped
        C = candidate.parameters["C"]
        seen.append((share, C))
        return [0.9, C / 100, 0.5]

    search = halving(Search("error", 20_000, 1), rungs(pool, 20_000), judge, n_jobs=1)
    assert [round(share * 9) for share, _ in seen] == [1] * 12 + [3] * 4 + [9] * 4
    assert search.best is not None
    assert (search.best.candidate, search.best.passes) == (pool[0], 2)

    def endless(candidate: Candidate, share: float, fold: int, stopped: Any) -> list[float]:
        del candidate, share, fold
        while not stopped():
            pass
        raise Stopped

    ended = halving(Search("error", 100, 1), rungs(pool, 100), endless, n_jobs=2, time_limit=0.01)
    assert (ended.ending, ended.best) == ("time_limit", None)


def test_candidates() -> None:
    """What is fixed restricts the grid, and other encodings are tried with a few learners."""
    assert learners({"rule": "pa", "memory": "average"}, 10_000) == [
        (("rule", "pa"), ("memory", "average"))
    ]
    assert {dict(found)["rule"] for found in learners({}, 10_000)} == {*RULES}
    assert all(dict(found)["memory"] == "last" for found in learners({"memory": "last"}, 10_000))
    ways = list(encodings(["min_count"], has_text=True, n_features=10**6, sparse=False))
    assert ways == [(), (("word_pairs", False),), (("char_ngrams", (2, 5)),), (("words", False),)]
    pool = candidates(learners({}, 10_000), ways)
    assert sum(one.encoding != () for one in pool) == 3 * len({e.family for e in RULES.values()})


def test_refusals(tmp_path: Path) -> None:
    """A wrong metric, one class and options without --tune are refused in a sentence."""
    with pytest.raises(InputError, match="metric= must be one of"):
        tune([[0.0], [1.0]], [0, 1], metric="beauty")
    with pytest.raises(InputError, match="folds= must be at least 2 and at most"):
        tune([[0.0], [1.0]], [0, 1], folds=5)
    done = CliRunner().invoke(train, [mails(tmp_path), "--folds", "3"])
    assert "--folds has no effect without --tune." in done.stderr
    model = model_from_files(mails(tmp_path), text="body", rule="perceptron")
    assert model.learner == "AveragedPerceptron"


def rings(folder: Path) -> tuple[str, Any, Any]:
    """Write rows that a kernel parts best, some of them noisy, and return them, too."""
    generator = np.random.default_rng(5)
    X = generator.normal(size=(160, 2)).round(3)
    inside = ((X**2).sum(axis=1) < 1.2) ^ (generator.random(160) < 0.03)
    y = np.where(inside, "in", "out")
    path = folder / "rings.csv"
    lines = [f"{a},{b},{label}" for (a, b), label in zip(X, y, strict=True)]
    path.write_text("\n".join(["east,north,place", *lines, ""]))
    return str(path), X, y


@pytest.mark.usefixtures("_few")
def test_kernels_meet_other_encodings(tmp_path: Path) -> None:
    """The best kernel is tried with bins, too, and the printed command trains it."""
    path, X, y = rings(tmp_path)
    given = [path, "--label", "place", "--folds", "3"]
    document = json.loads(ran(tune_command, *given, "--json").stdout)
    kernels = [trial for trial in document["trials"] if "kernel" in trial]
    assert "kernel" in document["chosen"]
    assert any("bins" in trial for trial in kernels)
    first, second = str(tmp_path / "1.model"), str(tmp_path / "2.model")
    done = ran(tune_command, *given, "-o", first)
    line = next(line for line in done.stdout.splitlines() if line.startswith("Command: "))
    ran(train, *shlex.split(line.removeprefix("Command: "))[2:], "-o", second)
    rows = [{"east": a, "north": b} for a, b in X]
    one, two = load(first).predict(rows), load(second).predict(rows)
    assert one.tolist() == two.tolist()
    assert np.mean(one == y) > 0.9
    clf = tune(X, y, folds=3)
    assert isinstance(clf, KernelPerceptron)
    assert clf.score(X, y) > 0.9


def test_a_frame_with_words_comes_back_in_a_pipeline() -> None:
    """Categories and numbers are encoded as TableEncoder does; what is found predicts frames."""
    rows = [{"age": 20 + k % 40, "city": ("Rome", "Oslo", "Bern")[k % 3]} for k in range(180)]
    frame, y = pl.DataFrame(rows), ["yes" if row["city"] == "Oslo" else "no" for row in rows]
    found: Any = tune(frame, y, folds=3)
    assert found.score(frame, y) == 1.0
    encoded = TableEncoder().fit_transform(frame)
    best = tune(encoded, y, folds=3)
    assert found.search_.best == replace(best.search_.best, seconds=found.search_.best.seconds)
