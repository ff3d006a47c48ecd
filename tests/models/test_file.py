"""The model file: what goes in comes out, and the safetensors library can read it."""

import hashlib
import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from safetensors import safe_open
from safetensors.numpy import load

from rosenblatt.models.file import read, read_from, write
from rosenblatt.models.model import Model, Spread
from rosenblatt.models.tensors import FormatError, read_arrays, read_header, write_tensors
from tests.models.models import assert_same, example, models, with_vectors
from tests.models.written import written
from tests.processes import printed


@given(models())
def test_what_goes_in_comes_out(model: Model) -> None:
    """Every field comes back, with its types and to the last bit, −0.0 and NaN included."""
    data = written(model)
    assert_same(read_from(io.BytesIO(data), len(data)), model)
    assert_same(read_from(io.BytesIO(data)), model)


@given(models())
def test_equal_models_are_equal_files(model: Model) -> None:
    """A model that was read is written with the same bytes."""
    data = written(model)
    assert written(read_from(io.BytesIO(data))) == data


@given(models())
def test_the_library_reads_it(model: Model) -> None:
    """The safetensors library finds the same arrays, and the document in one of them."""
    data = written(model)
    tensors = load(data)
    header = read_header(io.BytesIO(data[8:]), data[:8])
    ours = read_arrays(io.BytesIO(data[len(header.text) :]), header, len(data))
    assert_same(ours, tensors)
    assert tensors["document"].dtype == np.uint8
    assert json.loads(tensors["document"].tobytes())["learner"] == model.learner
    if "weights" in tensors:
        assert tensors["weights"].tobytes() == model.weights.tobytes()


def test_metadata(tmp_path: Path) -> None:
    """The library shows format, versions and the checksum that the documentation computes."""
    path = tmp_path / "m.model"
    write(example(), path)
    with safe_open(path, framework="np") as file:
        metadata = file.metadata()
    told = metadata.pop("checksum")
    assert metadata == {
        "format": "rosenblatt",
        "format_version": "1",
        "library_version": metadata["library_version"],
    }
    data = path.read_bytes()
    assert hashlib.sha256(data.replace(told.encode(), b"0" * 64)).hexdigest() == told


def test_tensors_are_aligned() -> None:
    """Every array begins at a multiple of its numbers' size, as a map of the file wants it."""
    arrays: dict[str, Any] = {
        "a": np.zeros(3, np.uint8),
        "b": np.zeros(3),
        "c": np.zeros(5, np.int16),
    }
    file = io.BytesIO()
    write_tensors(file, {"format": "rosenblatt"}, arrays)
    data = file.getvalue()
    header = read_header(io.BytesIO(data[8:]), data[:8])
    for place in header.places:
        assert (len(header.text) + place.start) % place.dtype.itemsize == 0


@pytest.mark.parametrize(("share", "sparse"), [(0.33, True), (0.34, False)])
def test_sparse_weights_are_small(tmp_path: Path, share: float, sparse: bool) -> None:
    """Arrays with under a third of their values are stored as places and values."""
    n_features = 9_999
    weights = np.zeros((1, n_features + 1))
    weights[0, : int(share * 10_000)] = 1.5
    low = np.zeros(n_features)
    model = replace(
        with_vectors(example(), weights=weights, ledger=weights),
        feature_names=None,
        spread=Spread(low, low, low, 5),
    )
    path = tmp_path / "m.model"
    write(model, path)
    with path.open("rb") as file:
        names = {place.name for place in read_header(file, file.read(8)).places}
    assert ("weights.places" in names, "weights" in names) == (sparse, not sparse)
    assert_same(read(path), model)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("library", ["isal", "zlib"])
def test_large_arrays_are_deflated(
    tmp_path: Path, dtype: Any, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes back has the same bits; float32 takes half where it holds every number."""
    if library == "zlib":
        monkeypatch.setattr("rosenblatt.models.tensors.find_spec", lambda _: None)
    n_features, generator = 5_000, np.random.default_rng(0)
    weights = generator.normal(size=(3, n_features + 1)).astype(dtype).astype(np.float64)
    weights[0, 7] = -0.0
    words = {"letters": np.full(9_999, 65, np.uint8), "ends": np.arange(0, 90_000, 9)}
    model = example(3, n_features, weights=weights, ledger=None, encoding_arrays=words)
    model = replace(model, feature_names=None)
    write(model, tmp_path / "m.model")
    assert_same(read(tmp_path / "m.model"), model)
    write(model, tmp_path / "plain.model", deflate=False)
    assert_same(read(tmp_path / "plain.model"), model)
    sizes = [(tmp_path / name).stat().st_size for name in ("m.model", "plain.model")]
    n_bytes = weights.size * np.dtype(dtype).itemsize
    spread = 3 * 8 * n_features
    assert sizes[0] < n_bytes + spread + 5_000 < sizes[1]
    with safe_open(tmp_path / "m.model", framework="np") as file:
        assert file.metadata()["format_version"] == "2"
        forms = json.loads(file.metadata()["deflated"])
    assert forms["encoding.ends"] == ["I64", [10_000], "U8"]
    assert forms["encoding.letters"] == ["U8", [9_999], ""]


@pytest.mark.parametrize(
    "form",
    [
        ["U8", [9_998], ""],
        ["U8", [10_000], ""],
        ["U8", [1 << 40], ""],
        ["U8", [-1], ""],
        ["U8", "9999", ""],
        ["F64", [9_999], "U8"],
        ["I64", [9_999], "what"],
        ["U8", [9_999]],
        None,
    ],
)
def test_deflated_arrays_are_what_they_say(form: Any) -> None:
    """A form that does not fit the bytes is refused, and takes no memory."""
    file = io.BytesIO()
    write_tensors(file, {"format": "rosenblatt"}, {"a": np.full(9_999, 65, np.uint8)}, ())
    header = read_header(io.BytesIO(file.getvalue()[8:]), file.getvalue()[:8])
    assert read_arrays(io.BytesIO(file.getvalue()[len(header.text) :]), header, None)["a"][0] == 65
    stored = read_arrays_plain(file.getvalue())
    wrong = {"format": "rosenblatt", "deflated": json.dumps({"a": form})}
    other = io.BytesIO()
    write_tensors(other, wrong, stored)
    header = read_header(io.BytesIO(other.getvalue()[8:]), other.getvalue()[:8])
    with pytest.raises(FormatError, match="copy it again"):
        read_arrays(io.BytesIO(other.getvalue()[len(header.text) :]), header, None)


def read_arrays_plain(data: bytes) -> dict[str, Any]:
    """Return the arrays of a file as they are stored."""
    return {name: np.asarray(array) for name, array in load(data).items()}


def test_byte_order_and_layout() -> None:
    """Arrays in another byte order, or not contiguous, are stored as what they mean."""
    arrays: dict[str, Any] = {
        "a": np.arange(6, dtype=">f4").reshape(2, 3).T,
        "b": np.arange(9)[::2],
    }
    found = read_from(io.BytesIO(written(example(arrays=arrays)))).arrays
    for name, array in arrays.items():
        assert found[name].tolist() == array.tolist()
        assert found[name].dtype == array.dtype.newbyteorder("=")


def test_arrays_may_be_changed(tmp_path: Path) -> None:
    """Weights that were read are the reader's own, for training to go on."""
    write(example(), tmp_path / "m.model")
    model = read(tmp_path / "m.model")
    model.weights[:] += 1
    assert model.weights.flags.c_contiguous


def test_standard_streams() -> None:
    """``-`` writes to standard output and reads from standard input, also through a pipe."""
    script = (
        "import sys; from tests.models.models import example\n"
        "from rosenblatt.models.file import read, write\n"
        "write(example() if sys.argv[1] == 'w' else read('-'), '-')"
    )
    command = [sys.executable, "-c", script]
    one = subprocess.run([*command, "w"], stdout=subprocess.PIPE, check=True)  # noqa: S603
    two = subprocess.run([*command, "r"], input=one.stdout, stdout=subprocess.PIPE, check=True)  # noqa: S603
    assert one.stdout == two.stdout == written(example())


def test_a_named_pipe(tmp_path: Path) -> None:
    """A model may come through a pipe, whose size is not known."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    write(example(), tmp_path / "m.model")
    with subprocess.Popen(["cp", tmp_path / "m.model", pipe]):  # noqa: S603, S607
        assert_same(read(pipe), example())


def test_nothing_slow_is_imported() -> None:
    """Reading a model needs NumPy and the standard library."""
    modules = printed("import sys, rosenblatt.models.file; print(*sys.modules)")
    slow = {"numba", "sklearn", "scipy", "polars", "pandas", "onnx", "click", "rich", "safetensors"}
    assert not slow & set(modules.split())
