"""Files that are no models, or no longer, and models that do not fit together."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from rosenblatt.errors import InputError
from rosenblatt.models.file import read, write
from rosenblatt.models.model import Model, Spread
from rosenblatt.models.tensors import FEW_PLACES
from rosenblatt.tasks.calibration import Calibration
from tests.models.models import example
from tests.models.written import summed, written

DATA = written(example())
LENGTH = int.from_bytes(DATA[:8], "little")


def sentence_for(data: bytes, folder: Path) -> str:
    """Return what is said about a file m.model with these bytes, without its folder."""
    (folder / "m.model").write_bytes(data)
    with pytest.raises(InputError) as told:
        read(folder / "m.model")
    return str(told.value).removeprefix(f"{folder}{os.sep}")


def rewritten(**entries: Any) -> bytes:
    """Return the file with entries of its document changed, or dropped where None."""
    document = written(example(ledger=None, spread=None, calibration=None))
    header, start = json.loads(document[8 : 8 + _length(document)]), 8 + _length(document)
    begin, end = header["document"]["data_offsets"]
    changed = json.loads(document[start + begin : start + end]) | entries
    return _with_document(document, json.dumps(changed, separators=(",", ":")).encode())


def _length(data: bytes) -> int:
    return int.from_bytes(data[:8], "little")


def _with_document(data: bytes, text: bytes) -> bytes:
    """Return a file with another document, which stands last."""
    start = 8 + _length(data)
    header = json.loads(data[8:start])
    begin = header["document"]["data_offsets"][0]
    header["document"] = {
        "dtype": "U8",
        "shape": [len(text)],
        "data_offsets": [begin, begin + len(text)],
    }
    return _joined(header, data[start : start + begin] + text)


def _joined(header: dict[str, Any], body: bytes) -> bytes:
    text = json.dumps(header, separators=(",", ":")).encode()
    return summed(len(text).to_bytes(8, "little") + text + body)


def with_tensors(change: Any, model: Model | None = None) -> bytes:
    """Return the file with the entries of its header changed, and a checksum that matches."""
    data = DATA if model is None else written(model)
    header = json.loads(data[8 : 8 + _length(data)])
    change(header)
    return _joined(header, data[8 + _length(data) :])


FOREIGN = "m.model is not a rosenblatt model: "
DAMAGED = "m.model is damaged: "
UNUSABLE = "m.model is not a usable model: "
NOT_THERE = "is not there, or not what it must be."
AGAIN = "copy it again or train anew."


@pytest.mark.parametrize(
    ("data", "clause"),
    [
        (b"", "it is empty."),
        (b"abc", "it is another kind of file."),
        (b"label,x\nspam,1\nham,0\n", "it is another kind of file."),
        (b"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00", "it is another kind of file."),
        (b"\x10\0\0\0\0\0\0\0{not JSON at all", "it is another kind of file."),
        (b"\xff" * 7 + b"\x7f{" + b" " * 100, "it is another kind of file."),
        (save({}), "it is another kind of file."),
        (
            save({f"layer {k}": np.zeros(1) for k in range(20_000)}),  # a header of 1.4 MB
            "it is another kind of file.",
        ),
        (save({"weights": np.zeros((1, 40))}), "it is another kind of file."),
        (
            save({"weights": np.zeros((1, 40))}, {"format": "np"}),
            "it is another kind of file.",
        ),
    ],
)
def test_foreign_files(data: bytes, clause: str, tmp_path: Path) -> None:
    """Something else than a model is called so."""
    assert sentence_for(data, tmp_path).startswith(FOREIGN + clause)


@pytest.mark.parametrize("length", [8, 40, 100, LENGTH, 8 + LENGTH, len(DATA) - 1])
def test_truncated_files(length: int, tmp_path: Path) -> None:
    """A file that was cut off, anywhere, is no model."""
    told = sentence_for(DATA[:length], tmp_path)
    assert told.startswith((FOREIGN, DAMAGED))
    if length > LENGTH:
        assert told == DAMAGED + AGAIN


def test_every_byte_is_covered(tmp_path: Path) -> None:
    """No byte can change without notice."""
    for place in range(len(DATA)):
        changed = bytearray(DATA)
        changed[place] ^= 1
        sentence_for(bytes(changed), tmp_path)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (DATA + b"\0", DAMAGED + AGAIN),
        (
            DATA[:-1] + b"!",
            DAMAGED + AGAIN,
        ),
        (
            DATA.replace(b'"format_version":"1"', b'"format_version":"3"'),
            "m.model was written by a newer version of rosenblatt (format 3; this one reads 2): up",
        ),
        (
            DATA.replace(b'"format_version":"1"', b'"format_version":"x"'),
            DAMAGED + AGAIN,
        ),
        (
            with_tensors(lambda h: h["weights"].update(shape=[2**62, 2**62])),
            DAMAGED + AGAIN,
        ),
        (
            with_tensors(lambda h: h["weights"].update(dtype="I64")),
            UNUSABLE + "its weights must be float64 of shape (1, 5); got int64 of shape (1, 5).",
        ),
        (
            with_tensors(lambda h: h["weights"].update(dtype="BF16")),
            DAMAGED + AGAIN,
        ),
        (
            with_tensors(lambda h: h["weights"].update(data_offsets=[8, 48])),
            DAMAGED + AGAIN,
        ),
        (
            with_tensors(lambda h: h["weights"].update(shape=[5, 1])),
            UNUSABLE + "its weights must be float64 of shape (1, 5); got float64 of shape (5, 1).",
        ),
        (
            with_tensors(lambda h: h.update(weight=h.pop("weights"))),
            UNUSABLE + "its array 'weights' " + NOT_THERE,
        ),
        (
            with_tensors(lambda h: h.update(text=h.pop("document"))),
            DAMAGED + AGAIN,
        ),
        (rewritten(extra=1), UNUSABLE + "its entry 'extra' " + NOT_THERE),
        (
            rewritten(n_features=5),
            UNUSABLE + "its weights must be float64 of shape (1, 6); got float64 of shape (1, 5).",
        ),
        (rewritten(averaged=True), UNUSABLE + "its array 'ledger' " + NOT_THERE),
        (rewritten(classes=["a", "a"]), UNUSABLE + "its classes must be different and ascend; 'a'"),
        (
            rewritten(classes=["a", "b", "c"]),
            UNUSABLE + "its weights must be float64 of shape (3, 5); got float",
        ),
        (rewritten(classes=[1, "a"]), UNUSABLE + "its classes must be words, finite numbers or"),
        (rewritten(classes=[1, None]), UNUSABLE + "its classes must be words, finite numbers or"),
        (
            rewritten(feature_names=["a"]),
            UNUSABLE + "its 4 features must have a word each as names.",
        ),
        (
            rewritten(feature_names=[1] * 4),
            UNUSABLE + "its 4 features must have a word each as names.",
        ),
        (rewritten(history=[1]), UNUSABLE + "its entry 'history' " + NOT_THERE),
        (rewritten(learner=""), UNUSABLE + "its learner " + NOT_THERE),
        (rewritten(count=2**63), UNUSABLE + "its count of rows " + NOT_THERE),
        (rewritten(options=[]), UNUSABLE + "its entry 'options' " + NOT_THERE),
        (
            rewritten(calibration={"slope": 1, "offset": 2, "n_rows": -1}),
            UNUSABLE + "its calibration " + NOT_THERE,
        ),
    ],
)
def test_damaged_files(data: bytes, sentence: str, tmp_path: Path) -> None:
    """What is wrong is said, and what to do where something can be done."""
    assert sentence_for(data, tmp_path).startswith(sentence)


SPARSE = example(n_features=40, ledger=None, spread=None, feature_names=None)
SPARSE.weights[:, 3:] = 0


def sparse_file(places: list[int], n_features: int = 40) -> bytes:
    """Return a file whose three weights stand in these places."""
    assert (SPARSE.weights[0, :3] != 0).all()
    data = written(SPARSE)
    header = json.loads(data[8 : 8 + _length(data)])
    start = 8 + _length(data)
    begin, end = header["weights.places"]["data_offsets"]
    body = bytearray(data[start:])
    body[begin:end] = np.array(places, np.int32).tobytes()
    begin, end = header["document"]["data_offsets"]
    document = bytes(body[begin:end]).replace(b'features":40', b'features":%d' % n_features)
    return _with_document(_joined(header, bytes(body)), document)


@pytest.mark.parametrize(
    ("places", "n_features", "place"),
    [
        ([0, 1, 41], 40, "array 'weights'"),
        ([-1, 1, 2], 40, "array 'weights'"),
        ([1, 1, 2], 40, "array 'weights'"),
        ([2, 1, 3], 40, "array 'weights'"),
        ([0, 1, 2], FEW_PLACES, "array 'weights'"),
        ([0, 1, 2], 2**40, "array 'weights'"),
        ([0, 1, 2], 2**60, "entry 'n_features'"),
    ],
)
def test_places_of_sparse_weights(
    places: list[int], n_features: int, place: str, tmp_path: Path
) -> None:
    """Places outside, twice or out of order write nowhere, and no small file asks for terabytes."""
    sentence = f"{UNUSABLE}its {place} {NOT_THERE}"
    assert sentence_for(sparse_file(places, n_features), tmp_path) == sentence


def test_a_sparse_file(tmp_path: Path) -> None:
    """The files of the test before are good where their places are."""
    (tmp_path / "m.model").write_bytes(sparse_file([0, 5, 40]))
    assert np.flatnonzero(read(tmp_path / "m.model").weights).tolist() == [0, 5, 40]


def test_too_little_memory(tmp_path: Path) -> None:
    """A model that does not fit into memory is said to need more, not a traceback."""
    (tmp_path / "m.model").write_bytes(sparse_file([0, 5, 40], FEW_PLACES - 1))
    script = (
        "import resource, sys, rosenblatt.models.file as store\n"
        "from rosenblatt.errors import InputError\n"
        "used = 4096 * int(open('/proc/self/statm').read().split()[0]) + (100 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used, used))\n"
        "try: store.read(sys.argv[1])\n"
        "except InputError as error: print(error)\n"
    )
    command = [sys.executable, "-c", script, "m.model"]
    done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, check=True)  # noqa: S603
    assert done.stdout == (b"m.model needs more memory than there is: use a machine with more.\n")


def test_reading_what_is_not_there(tmp_path: Path) -> None:
    """A missing file and a folder are named."""
    missing = tmp_path / "none.model"
    with pytest.raises(InputError) as told:
        read(missing)
    assert str(told.value) == f"{missing} cannot be read: No such file or directory."
    with pytest.raises(InputError, match=r"cannot be read: Is a directory\.$"):
        read(tmp_path)


W = np.zeros((1, 5))


@pytest.mark.parametrize(
    ("changes", "clause"),
    [
        ({"classes": ()}, "its classes must be words, finite numbers or truth values; got ()"),
        ({"classes": (2, 1)}, "its classes must be different and ascend; 1 comes after 2"),
        ({"classes": (1, 1.0)}, "its classes must be different and ascend; 1.0 comes after 1"),
        ({"classes": (True, 2)}, "its classes must be words, finite numbers or truth values"),
        ({"classes": (0, float("nan"))}, "its classes must be words, finite numbers or truth"),
        ({"classes": (0, 1, 2)}, "its weights must be float64 of shape (3, 5); got float64"),
        ({"weights": W * np.nan}, "its weights must be finite"),
        ({"ledger": W + np.inf}, "its ledger must be finite"),
        ({"weights": W.astype("f4")}, "its weights must be float64 of shape (1, 5); got float32"),
        (
            {"ledger": W[:, :3]},
            "its ledger must be float64 of shape (1, 5); got float64 of shape (1, 3)",
        ),
        ({"count": 0}, "its count of rows is not there, or not what it must be"),
        ({"feature_names": ("a",)}, "its 4 features must have a word each as names"),
        (
            {"spread": Spread(W[0], W[0], W[0], 3)},
            "its spread.low must be float64 of shape (4,); got float64 of shape (5,)",
        ),
        (
            {"calibration": Calibration(float("inf"), 0.0, 3)},
            "its calibration is not there, or not what it must be",
        ),
        (
            {"arrays": {"a": np.array(["x"])}},
            "its array 'a' must hold numbers; got <U1",
        ),
        ({"options": {"f": print}}, "JSON has no form for <built-in function print>"),
        ({"training": {"n": {1: 2}}}, "JSON has words as keys only; got 1"),
    ],
)
def test_models_that_are_not_written(changes: Any, clause: str, tmp_path: Path) -> None:
    """What could not be read is not written: the file that is there stays."""
    path = tmp_path / "m.model"
    path.write_bytes(b"old")
    with pytest.raises(InputError) as told:
        write(example(**changes), path)
    assert str(told.value).startswith(f"The model is not a usable model: {clause}")
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_numpy_values_are_stored_as_pythons(tmp_path: Path) -> None:
    """Counts and scores that NumPy computed need no conversion; tuples come back as lists."""
    outcome = {"n": np.int64(3), "score": np.float32(0.5), "ok": np.bool_(1), "files": ("a", "b")}
    write(example(outcome=outcome), tmp_path / "m.model")
    found = read(tmp_path / "m.model").outcome
    assert found == {"n": 3, "score": 0.5, "ok": True, "files": ["a", "b"]}
    assert [type(value) for value in found.values()] == [int, float, bool, list]
