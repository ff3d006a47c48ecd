"""Wrong labels are found where they were put, with the place and the values of the row."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosenblatt import AveragedPerceptron, audit
from rosenblatt.errors import InputError
from rosenblatt.models.train import plan_of
from rosenblatt.training.holdout import folds as divisions
from rosenblatt.tuning.audit import fold_probabilities

N_ROWS, N_FLIPPED = 600, 30


def labelled_rows(n_classes: int = 2) -> tuple[Any, Any, Any]:
    """Return rows of well parted classes, the labels as given, and which of them are wrong."""
    generator = np.random.default_rng(n_classes)
    y = generator.integers(0, n_classes, N_ROWS)
    X = np.round(generator.normal(size=(N_ROWS, n_classes)) * 0.5, 3)
    X[np.arange(N_ROWS), y] += 2
    wrong = np.zeros(N_ROWS, bool)
    wrong[generator.choice(N_ROWS, N_FLIPPED, replace=False)] = True
    return X, np.where(wrong, (y + 1) % n_classes, y), wrong


def csv_text(X: Any, labels: Any) -> str:
    """Return rows as CSV with a header."""
    names = ",".join(f"x{k}" for k in range(X.shape[1]))
    rows = [f"{','.join(map(str, x))},c{k}" for x, k in zip(X.tolist(), labels, strict=True)]
    return "\n".join([f"{names},label", *rows, ""])


def test_labels_to_remove_and_to_add_come_first(tmp_path: Path) -> None:
    """Of several labels a row, those that were put in or taken out are listed first, as such."""
    generator, names = np.random.default_rng(7), np.array(list("abcd"))
    X = np.round(generator.normal(size=(N_ROWS, 4)), 3)
    truth = X > 0.4
    given = truth.copy()
    changed = generator.choice(truth.size, 4 * N_FLIPPED, replace=False)
    given.flat[changed] ^= True
    rows = [f"{','.join(map(str, x))},{';'.join(names[y])}" for x, y in zip(X, given, strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["x0,x1,x2,x3,label", *rows, ""]))
    found = audit(str(path), label="label", label_separator=";")
    assert (found.task.noun, found.n_rows) == ("label", N_ROWS)
    right = []
    for suspect in found.suspects:
        k, (verb, name) = suspect.line - 2, suspect.suggested.split(" ")
        label = "abcd".index(name)
        assert suspect.label == tuple(names[given[k]])
        assert (verb == "remove") == given[k, label]
        assert [float(value) for value in suspect.values.values()] == X[k].tolist()
        right.append(given[k, label] != truth[k, label])
    assert {suspect.suggested[:3] for suspect in found.suspects} == {"rem", "add"}
    assert np.mean(right[: len(changed) // 2]) >= 0.95
    assert np.mean(right[: len(changed)]) >= 0.85
    order = [suspect.probability for suspect in found.suspects]
    assert order == sorted(order)
    assert order[-1] < 0.5


def test_a_label_is_doubted_below_one_half(tmp_path: Path) -> None:
    """Each label of a row, or its lack, is listed where its probability is less, and no other."""
    generator = np.random.default_rng(3)
    X = np.round(generator.normal(size=(300, 3)), 3)
    given = X + 0.7 * generator.normal(size=X.shape) > 0.3
    names = np.array(list("abc"))
    rows = [f"{','.join(map(str, x))},{';'.join(names[y])}" for x, y in zip(X, given, strict=True)]
    path, how = tmp_path / "rows.csv", dict[str, Any](label="label", label_separator=";")
    path.write_text("\n".join(["x0,x1,x2,label", *rows, ""]))
    found = audit(str(path), **how)
    assert found.folds == 5
    _, shares = fold_probabilities(plan_of(str(path), **how), 5)
    own = np.sort(np.where(given, shares, 1.0 - shares), axis=None)
    listed = [suspect.probability for suspect in found.suspects]
    assert listed == own[own < 0.5].tolist()
    assert listed[-1] > 0.45
    assert own[len(listed)] < 0.55


def test_a_copy_does_not_vouch_for_a_wrong_row(tmp_path: Path) -> None:
    """A row that stands twice with the same wrong label is found, for both are in one fold."""
    strange = "buy pills now cheap zebra quagga okapi tapir lemur gibbon"
    rows = [f"spam,buy pills now cheap {k}\nham,see you at noon {k}" for k in range(60)]
    for folder, copies in (("one", 1), ("two", 2)):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "mail.csv"
        path.write_text("\n".join(["label,body", *rows, *[f"ham,{strange}"] * copies, ""]))
        found = audit(str(path), text="body")
        assert [row.values["body"] for row in found.suspects] == [strange] * copies


@pytest.mark.parametrize("seed", range(4))
def test_few_rows_with_copies_fill_all_folds(tmp_path: Path, seed: int) -> None:
    """No fold is empty, whatever chance does, as long as there are as many different rows."""
    path = tmp_path / "pairs.csv"
    rows = [f"{'ab'[k % 2]},{k},{k % 3}\n" * 2 for k in range(4)]
    path.write_text("".join(["label,x,y\n", *rows]))
    found = audit(str(path), folds=4, random_state=seed)  # a warning would be an error
    assert found.n_rows == 8
    with pytest.raises(InputError, match="at most the number of different rows, 4; got 5"):
        audit(str(path), folds=5)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", ["pa1", "arow", "perceptron"])
def test_flipped_labels_come_first(tmp_path: Path, n_classes: int, rule: str) -> None:
    """As many rows as were made wrong, the first, are nearly all of those, at their lines."""
    X, labels, wrong = labelled_rows(n_classes)
    path = tmp_path / "rows.csv"
    path.write_text(csv_text(X, labels))
    found = audit(str(path), rule=rule)
    first = [row.line - 2 for row in found.suspects[:N_FLIPPED]]
    assert wrong[first].mean() >= 0.85
    assert found.n_rows == N_ROWS
    for row in found.suspects:
        k = row.line - 2  # behind the header
        assert row.file == str(path)
        assert row.label == f"c{labels[k]}" != row.suggested
        assert [float(value) for value in row.values.values()] == X[k].tolist()
        assert row.probability <= 0.5
    order = [row.probability for row in found.suspects]
    assert order == sorted(order)


def test_the_folds_are_those_of_evaluate(tmp_path: Path) -> None:
    """Without chance the listed rows are those that an estimator of the other folds calls wrong."""
    X, labels, _ = labelled_rows(3)
    path = tmp_path / "rows.csv"
    path.write_text(csv_text(X, labels))
    plain: dict[str, Any] = {"early_stopping": False, "shuffle": False, "scale": False}
    found = audit(str(path), folds=4, memory="average", **plain)
    expected = {}
    for train, test in divisions(labels, 4, 0):
        clf = AveragedPerceptron(shuffle=False).fit(X[train], labels[train])
        guess = clf.predict(X[test])
        for k, label in zip(test.tolist(), guess.tolist(), strict=True):
            if label != labels[k]:
                expected[k + 2] = f"c{label}"
    assert {row.line: row.suggested for row in found.suspects} == expected


def test_places_in_any_file(tmp_path: Path) -> None:
    """Lines are those of the file: behind quotes, empty labels, bad rows, in the second of two."""
    X, labels, wrong = labelled_rows()
    rows = csv_text(X, labels).splitlines()
    strange = [*rows[:10], "1,2,", *rows[10:20], '"1",2,3,4', "", *rows[20:]]
    (tmp_path / "a.csv").write_text("\n".join([*strange[:300], ""]))
    with gzip.open(tmp_path / "b.csv.gz", "wt") as file:
        file.write("\n".join([rows[0], *strange[300:], ""]))
    names = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv.gz")]
    found = audit(names, label="label", bad_rows="skip")
    texts = {names[0]: strange[:300], names[1]: [rows[0], *strange[300:]]}
    assert len({row.file for row in found.suspects}) == 2
    for row in found.suspects:
        line = texts[row.file][row.line - 1]
        assert line == ",".join([*row.values.values(), row.label])
    flipped = {rows[k + 1] for k in np.flatnonzero(wrong)}
    first = [texts[row.file][row.line - 1] for row in found.suspects[:N_FLIPPED]]
    assert len(flipped.intersection(first)) >= N_FLIPPED - 3


def test_places_in_svmlight(tmp_path: Path) -> None:
    """Comments, empty lines and skipped lines count as lines, not as rows."""
    X, labels, wrong = labelled_rows()
    rows = [
        f"{k} {' '.join(f'{i + 1}:{v}' for i, v in enumerate(x))}"
        for x, k in zip(X.tolist(), labels, strict=True)
    ]
    lines = ["# comment", *rows[:50], "", "1 nonsense", *rows[50:], "  # the end"]
    path = tmp_path / "rows.svm"
    path.write_text("\n".join([*lines, ""]))
    found = audit(str(path), bad_rows="skip")
    assert found.n_rows == N_ROWS
    for row in found.suspects:
        assert lines[row.line - 1] == f"{row.label} {row.values['features']}"
    flipped = {rows[k] for k in np.flatnonzero(wrong)}
    assert len(flipped & {lines[row.line - 1] for row in found.suspects[:N_FLIPPED]}) >= 27


def test_rows_of_a_file_without_lines(tmp_path: Path) -> None:
    """In Parquet a row has its number, those without a label counted."""
    pl = pytest.importorskip("polars")
    X, labels, _ = labelled_rows()
    words = [None if k in (3, 100) else f"c{label}" for k, label in enumerate(labels)]
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"x0": X[:, 0], "x1": X[:, 1], "label": words}).write_parquet(path)
    found = audit(str(path), label="label")
    assert found.n_rows == N_ROWS - 2
    for row in found.suspects:
        assert [*row.values.values()] == X[row.line - 1].tolist()
        assert row.label == words[row.line - 1]


def test_a_kernel_can_judge(tmp_path: Path) -> None:
    """Rows that no line parts are judged through a kernel."""
    X, labels, wrong = labelled_rows()
    X[:, 1] = X[:, 0] * 0 + np.where(X[:, 0] > X[:, 1], 0.5, 3) * np.sign(
        np.arange(N_ROWS) % 2 - 0.5
    )
    path = tmp_path / "rows.csv"
    path.write_text(csv_text(X, labels))
    found = audit(str(path), kernel="rbf", label="label")
    first = [row.line - 2 for row in found.suspects[:N_FLIPPED]]
    assert wrong[first].mean() >= 0.85


def test_standard_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that can be read once only cannot be shown afterwards."""
    import io
    import sys

    text = io.TextIOWrapper(io.BytesIO(b"label,x\n" + b"a,1\nb,2\n" * 20))
    monkeypatch.setattr(sys, "stdin", text)
    with pytest.raises(InputError, match="audit reads the data twice: give files"):
        audit("-")
