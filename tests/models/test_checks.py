"""One gate for model files: ``load`` and the commands refuse the same, in the same words."""

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from rosenblatt import (
    AveragedPerceptron,
    KernelPerceptron,
    Perceptron,
    load,
    save,
)
from rosenblatt.cli import main
from rosenblatt.errors import InputError
from rosenblatt.estimators.base import CLASSES
from rosenblatt.models.file import read, write
from rosenblatt.models.file_rows import StoredEncoding
from rosenblatt.models.learner_record import ESTIMATOR_NAMES
from rosenblatt.models.tensors import FEW_PLACES, nonzero_places
from rosenblatt.models.train import model_from_files
from tests.processes import printed

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = np.array([0, 0, 0, 1])


def test_the_gate_knows_every_estimator_and_parameter() -> None:
    """The parameters that a model file is checked by are those of the classes."""
    assert {name: frozenset(CLASSES[name]().get_params()) for name in ESTIMATOR_NAMES} == {
        name: spelling.names for name, spelling in ESTIMATOR_NAMES.items()
    }


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return a small table."""
    path = tmp_path / "t.csv"
    lines = ["a,b,label", *(f"{k % 7},{k % 5},{'x' if k % 7 > 3 else 'y'}" for k in range(70))]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": "Oracle"}, "m.model holds a 'Oracle', and this version of rosenblatt knows"),
        (
            {"options": {"speed": 1}},
            "m.model cannot be used: PassiveAggressiveClassifier has no parameter",
        ),
        ({"options": {"max_iter": "many"}}, "m.model cannot be used: The parameter max_iter of"),
        ({"options": {"class_weight": [1]}}, "m.model cannot be used: "),
    ],
)
def test_load_and_commands_refuse_the_same(
    table: Path, monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], sentence: str
) -> None:
    """A learner or parameter that is not known is refused wherever the file is used."""
    monkeypatch.chdir(table.parent)
    model = model_from_files("t.csv")
    write(replace(model, made_by=replace(model.made_by, **fields)), "m.model")
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}"):
        load("m.model")
    for command in (["predict", "m.model", "t.csv"], ["evaluate", "m.model", "t.csv"],
                    ["explain", "m.model", "t.csv"], ["weights", "m.model"]):  # fmt: skip
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 2
        assert sentence in done.stderr


def test_sizes_are_checked_before_memory_is_reserved(tmp_path: Path) -> None:
    """An encoding that hashes to more features than there are weights is damaged."""
    texts = tmp_path / "t.csv"
    texts.write_text("text,label\n" + "good day,1\nbad day,0\n" * 20)
    model = model_from_files(str(texts), text="text", hash_bits=8)
    encoding: Any = dict(model.encoding or {})
    encoding["settings"] = encoding["settings"] | {"hash_bits": 30}
    write(
        replace(model, stored_encoding=StoredEncoding(encoding, model.encoding_arrays)),
        tmp_path / "m",
    )
    sentence = "it hashes to 30 bits, and the model has 256 features"
    with pytest.raises(InputError, match=sentence):
        load(tmp_path / "m")
    assert nonzero_places(np.zeros(FEW_PLACES + 1, np.uint8)) is None


@pytest.mark.parametrize("key", ["options", "outcome", "training", "encoding", "verdict"])
def test_a_number_in_the_place_of_entries(tmp_path: Path, key: str) -> None:
    """``{"$float": "inf"}`` where named entries must be is refused in words."""
    from rosenblatt.models import file
    from rosenblatt.models.file import document_of, fields_of
    from rosenblatt.models.tensors import FormatError

    save(Perceptron().fit(X, Y), tmp_path / "m")
    document = document_of(file.read(tmp_path / "m")) | {key: {"$float": "inf"}}
    with pytest.raises(FormatError, match=f"its entry '{key}' is not there, or not"):
        fields_of(document)


def test_streams_of_more_rows_than_32_bits_count() -> None:
    """The numbers of support rows go on beyond 2³¹."""
    clf = KernelPerceptron(gamma=1.0, memory="last")
    clf.partial_fit(X, [0, 1, 1, 0])
    clf._state.n_met = clf._state.count = 2**31 - 2  # noqa: SLF001  # as if so many had come
    for _ in range(3):
        clf.partial_fit(X, [1, 0, 0, 1])
    assert clf.support_.max() > 2**31
    assert clf.predict(X).shape == (4,)


def test_given_weights_begin_a_new_average() -> None:
    """With ``warm_start``, given weights start the training that they start without it."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 2))
    labels = rows[:, 0] > 0.3
    start: dict[str, Any] = {"coef_init": [[5.0, 5.0]], "intercept_init": [1.0]}
    warm = AveragedPerceptron(warm_start=True, shuffle=False, max_iter=2).fit(rows, labels)
    warm.fit(rows, labels, **start)
    fresh = AveragedPerceptron(shuffle=False, max_iter=2).fit(rows, labels, **start)
    assert np.array_equal(warm.coef_, fresh.coef_)
    assert np.array_equal(warm.intercept_, fresh.intercept_)


def test_weights_of_classes_that_are_yet_to_come() -> None:
    """A stream may name the weight of a class before it meets it; a fit may not."""
    clf = Perceptron(class_weight={0: 1.0, 1: 2.0, 2: 5.0})
    clf.partial_fit(X, Y).partial_fit([[9.0, 9.0]], [2])
    assert clf.classes_.tolist() == [0, 1, 2]
    assert np.abs(clf.coef_[2]).max() == 45.0
    with pytest.raises(InputError, match="class_weight= names 2, which is not a class"):
        clf.fit(X, Y)


def test_first_use_of_names_from_threads() -> None:
    """Several threads may use the names of the package for the first time at once."""
    printed(
        "import threading, rosenblatt\n"
        "names, found = rosenblatt.__all__, []\n"
        "start = threading.Barrier(len(names))\n"
        "def use(name):\n"
        "    start.wait()\n"
        "    found.append(getattr(rosenblatt, name))\n"
        "threads = [threading.Thread(target=use, args=(name,)) for name in names]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
        "assert len(found) == len(names)\n"
    )


def test_models_do_not_say_where_files_were(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model keeps names of files, and paths below the folder of the training; no others."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    model = model_from_files(str(table))
    assert model.training["files"] == ["t.csv"]
    model.save("m.model")
    assert os.fsencode(tmp_path) not in Path("m.model").read_bytes()
    monkeypatch.chdir(tmp_path)
    assert model_from_files(str(table)).training["files"] == ["t.csv"]
    assert (
        read("elsewhere/m.model").training["places"] == model_from_files("t.csv").training["places"]
    )
