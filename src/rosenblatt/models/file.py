"""The model file: safetensors with a document in it, written whole or not at all.

The document is everything but the arrays as one JSON object, exact. A float that is not finite
becomes ``{"$float": "inf"}``; a key of ours that begins with ``$`` gets a second one.
"""

import json
import math
import os
import stat
import sys
from collections.abc import Collection, Mapping
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rosenblatt import wording
from rosenblatt.data.atomic import replacing
from rosenblatt.errors import InputError
from rosenblatt.mistakes.arrays import KERNEL_PREFIX, PREFIX
from rosenblatt.models.file_rows import StoredEncoding
from rosenblatt.models.learner_record import LearnerRecord
from rosenblatt.models.model import SPREAD_PARTS, Class, Model, Spread
from rosenblatt.models.record import Json, Record
from rosenblatt.models.tensors import (
    FEW_BYTES,
    NO_MODEL,
    PLACES_A_DEFLATED,
    TYPE_NAMES,
    FormatError,
    damaged,
    deflated_forms,
    fail,
    input_errors,
    most_places,
    packed,
    packed_places,
    read_arrays,
    read_header,
    require,
    unpacked,
    unpacked_places,
    write_tensors,
)
from rosenblatt.models.voted import VotedWeights
from rosenblatt.models.weights import Weights
from rosenblatt.tasks import Task, task_of
from rosenblatt.tasks.calibration import Calibration
from rosenblatt.tasks.label_sets import SIGMOIDS
from rosenblatt.tasks.label_thresholds import THRESHOLDS
from rosenblatt.training.places import Scattered, few_exist
from rosenblatt.training.room import give_back
from rosenblatt.training.state import copied
from rosenblatt.version import __version__

if TYPE_CHECKING:
    from rosenblatt.models.kernel_machine import KernelMachine

Source = str | os.PathLike[str]
Numbers = NDArray[Any] | Scattered
MOST_ROWS = 2**63  # what a count may reach
PIECE = 1 << 20  # values looked at together, so that a check needs no memory of the model's size
FORMAT_VERSION = 2  # 1: nothing is deflated, and weights are float64, as in small files
NOTHING = type(None)
ENTRIES: dict[str, tuple[type, ...]] = {
    "learner": (str,),
    "options": (dict,),
    "classes": (list,),
    "n_features": (int,),
    "averaged": (bool,),  # whether there is a ledger
    "variance": (str, NOTHING),  # "diagonal" where there are variances
    "count": (int,),
    "outcome": (dict,),
    "training": (dict,),
    "verdict": (dict, NOTHING),
    "calibration": (dict, NOTHING),
    "spread": (dict, NOTHING),
    "history": (list,),  # of an object a pass
    "encoding": (dict, NOTHING),
    "feature_names": (list, NOTHING),
    "described": (dict, NOTHING),  # left out where the options spell the learner
}
DECODED = ("options", "outcome", "training", "encoding", "verdict", "described", "history")
TAG = "$float"
NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}

# Arrays of (n_vectors, n_features + 1), and what their numbers, all finite, must not be below
VECTORS = {"weights": -math.inf, "ledger": -math.inf, "variance": 0.0}
VARIANCES = ("variance", "variance.places", "variance.values")  # as they stand in a file
SPREADS = tuple(f"spread.{part}" for part in SPREAD_PARTS)  # of (n_features,), any numbers


def write(model: Model, path: Source, *, deflate: bool = True) -> None:
    """Write a model file, or change nothing and raise InputError; ``-`` is standard output."""
    with input_errors("The model"), replacing(path) as file:
        write_to(file, model, deflate=deflate)


def read(path: Source, *, to_learn: bool = True) -> Model:
    """Return the model of a file, whose checksum covers every byte; ``-`` is standard input.

    Not ``to_learn``: without the variances of its weights, which no answer needs.
    """
    name = "standard input" if path == "-" else os.fspath(path)
    with input_errors(name):
        if path == "-":
            return read_from(sys.stdin.buffer, to_learn=to_learn)
        try:
            with Path(path).open("rb") as file:
                status = os.fstat(file.fileno())
                size = status.st_size if stat.S_ISREG(status.st_mode) else None
                return read_from(file, size, to_learn=to_learn)
        except OSError as error:
            raise InputError(f"{name} cannot be read: {error.strerror or error}.") from error


def rows_of(path: Source) -> str:
    """Return what the rows of a model file are, by its first bytes; empty where it is none."""
    try:
        if not Path(path).is_file():  # what comes once is left to its reader
            return ""
        with Path(path).open("rb") as file:
            return read_header(file, file.read(8)).metadata.get("rows", "rows")
    except (OSError, ValueError, FormatError):
        return ""


def write_to(file: IO[bytes], model: Model, *, deflate: bool = False) -> None:
    """Write a model to an open file, or raise FormatError and write nothing."""
    arrays = model_arrays(model)
    check(model, arrays=arrays)
    tensors = _tensors(model, arrays)
    size = math.prod(shape_of("weights", model.task, model.n_features))
    sparse = {name: len(array) for name, array in tensors.items() if name.endswith(".values")}
    plain = {name for name, n in sparse.items() if size > most_places(n, PLACES_A_DEFLATED)}
    small = all(array.nbytes < FEW_BYTES for array in tensors.values())  # as in version 1
    metadata = {key: str(value) for key, value in versions(1 if small else 2).items()}
    if model.task.rows != "rows":
        metadata["rows"] = model.task.rows
    write_tensors(file, metadata, tensors, plain if deflate else None)


def read_from(file: IO[bytes], size: int | None = None, *, to_learn: bool = True) -> Model:
    """Return the model that an open file of this size holds; raise FormatError if it has none."""
    head = file.read(8)
    if b"\0" not in head and head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        msg = "it is JSON, which models are exported to and not read from; use the model file"
        raise FormatError(msg, NO_MODEL)
    header = read_header(file, head)
    version = header.metadata.get("format_version", "")
    if not (version.isascii() and version.isdigit() and len(version) < 10):
        raise damaged()
    if int(version) > FORMAT_VERSION:
        msg, formats = "upgrade rosenblatt", f"format {version}; this one reads {FORMAT_VERSION}"
        raise FormatError(msg, f"was written by a newer version of rosenblatt ({formats})")
    unwanted = () if to_learn else VARIANCES
    tensors = read_arrays(file, header, size, unwanted)
    return _model(tensors, deflated_forms(header), to_learn=to_learn)


def model_arrays(model: Model) -> dict[str, Numbers]:
    """Return the arrays of numbers that a model has, by their names in a file."""
    return dict(model.machine.stored_vectors) | _spread_arrays(model)


def _spread_arrays(model: Model) -> dict[str, Numbers]:
    if model.spread is None:
        return {}
    return {name: getattr(model.spread, name.removeprefix("spread.")) for name in SPREADS}


def shape_of(name: str, task: Task, n_features: int) -> tuple[int, ...]:
    """Return the shape of such an array."""
    return (task.n_vectors, n_features + 1) if name in VECTORS else (n_features,)


def check(
    model: Model, n_features: int | None = None, arrays: Mapping[str, Numbers] | None = None
) -> None:
    """Raise FormatError with the first thing that does not fit, to a number of features if given.

    ``arrays`` are those of ``model_arrays``, by default; a reader has checked the vectors.
    """
    require(model.learner, "learner")
    _check_classes(model.classes)
    require(_is_count(model.machine.count, least=1), "count of rows")
    for name, array in (model_arrays(model) if arrays is None else arrays).items():
        n = model.n_features if n_features is None else n_features
        _check_array(name, array, shape_of(name, model.task, n))
    names = model.feature_names
    if names is not None and [*map(type, names)] != [str] * model.n_features:
        fail(f"its {model.n_features} features must have a word each as names")
    require(model.spread is None or _is_count(model.spread.n_rows), "spread")
    require(model.calibration is None or _is_calibration(model.calibration), "calibration")
    _check_labels(model)
    for name, array in (model.encoding_arrays | model.arrays).items():
        if array.dtype.newbyteorder("=") not in TYPE_NAMES:
            fail(f"its array {name!r} must hold numbers; got {array.dtype}")


def _check_labels(model: Model) -> None:
    """Raise FormatError where thresholds or probabilities of several labels do not fit them."""
    n_labels = len(model.classes)
    for name, shape in ((THRESHOLDS, (n_labels + 1,)), (SIGMOIDS, (2, n_labels))):
        array = model.arrays.get(name)
        if array is not None:
            _check_array(name, array, shape)
            # No best label is predicted where none is above its threshold: the last is infinite
            own = model.task.fitted_arrays and np.isfinite(array[:n_labels]).all()
            require(own and not np.isnan(array).any(), f"array {name!r}")
    calibrated = model.calibration is not None and SIGMOIDS in model.task.fitted_arrays
    require(not calibrated or SIGMOIDS in model.arrays, f"array {SIGMOIDS!r}")


def finite_average(model: Model) -> NDArray[Any]:
    """Return the weights that predict, for forms that have no infinity."""
    with np.errstate(over="ignore"):
        weights = model.deciding_weights
    if not np.isfinite(weights).all():
        fail("its average is beyond the range of float64; scale the features")
    return weights


def _check_array(name: str, array: Numbers, shape: tuple[int, ...]) -> None:
    packed = isinstance(array, Scattered)
    numbers = array.values if isinstance(array, Scattered) else array
    narrow = (packed or name in SPREADS) and numbers.dtype == np.float32
    if array.shape != shape or not (numbers.dtype == np.float64 or narrow):
        wanted = f"float64 of shape {shape}"
        fail(f"its {name} must be {wanted}; got {numbers.dtype} of shape {array.shape}")
    flat = numbers.reshape(-1, order="A")  # as it stands: all are looked at
    for start in range(0, flat.size if name in VECTORS else 0, PIECE):
        piece = flat[start : start + PIECE]
        if not (np.isfinite(piece) & (piece >= VECTORS[name])).all():
            fail(f"its {name} must be finite{' and at least 0' * (VECTORS[name] == 0)}")


def _is_count(number: object, least: int = 0) -> bool:
    return type(number) is int and least <= number < MOST_ROWS


def _is_number(value: object) -> bool:
    try:
        return type(value) in {int, float} and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:
        return False


def _check_classes(classes: tuple[Class, ...]) -> None:
    kinds = {float if type(c) is int or _is_number(c) else type(c) for c in classes}
    nan = any(type(c) is float and not _is_number(c) for c in classes)
    if nan or len(kinds) != 1 or not kinds <= {str, bool, float}:
        fail(f"its classes must be words, finite numbers or truth values; got {classes!r:.60}")
    for one, two in pairwise(classes):
        if not one < two:  # type: ignore[operator]  # they are of one kind
            fail(f"its classes must be different and ascend; {two!r:.60} comes after {one!r:.60}")


def _is_calibration(calibration: Calibration) -> bool:
    points = calibration.points
    numbers = [calibration.slope, calibration.offset, *(n for point in points for n in point)]
    return (
        _is_count(calibration.n_rows)
        and all(map(_is_number, numbers))
        and all(0 <= p <= 1 for _, p in points)
        and all(x < y and p <= q for (x, p), (y, q) in pairwise(points))
    )


def _tensors(model: Model, arrays: Mapping[str, Numbers]) -> dict[str, NDArray[Any]]:
    text = compact(document_of(model)).encode()
    tensors = {"document": np.frombuffer(text, np.uint8)}
    for name, array in arrays.items():
        if isinstance(array, Scattered):
            values = _from_one(array.values) if name == "variance" else array.values
            tensors |= packed_places(name, array._replace(values=_narrow(values), missing=0.0))
            continue
        stored = _from_one(array) if name == "variance" else array
        tensors |= packed(name, _narrow(stored) if name in VECTORS else stored)
    tensors |= {f"encoding.{name}": array for name, array in model.encoding_arrays.items()}
    return tensors | {f"arrays.{name}": array for name, array in own_arrays(model).items()}


def own_arrays(model: Model) -> dict[str, NDArray[Any]]:
    """Return what a file holds beside vectors and encoding, and the machine's list."""
    return model.arrays | model.machine.arrays()


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    """Return many numbers as float32, if that holds every one of them."""
    if array.nbytes < FEW_BYTES:
        return array
    with np.errstate(over="ignore"):
        narrow = copied(array, dtype=np.float32)
    return narrow if (narrow == array).all() else array


def _model(tensors: dict[str, NDArray[Any]], deflated: Collection[str], *, to_learn: bool) -> Model:
    text = tensors.pop("document", None)
    document = None if text is None else parse(text.tobytes())
    if not isinstance(document, dict):
        raise damaged()
    fields = fields_of(document)
    _mend_options(fields["options"])
    kind, spread = document["variance"], document["spread"]
    if kind == "full":
        fail("it keeps all covariances, which this version does not; train it again")
    # The arrays that the document names, and nothing else
    there = {
        "weights": True,
        "ledger": document["averaged"],
        "variance": kind is not None and to_learn,
    }
    n_features = document["n_features"]
    learner = [fields.pop(name) for name in ("learner", "options", "described")]
    try:
        made_by = LearnerRecord.stored(*learner)
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise FormatError(str(error).removesuffix("."), "cannot be used") from error
    task = task_of(made_by.task, len(fields["classes"]))
    few = few_exist(n_features, task) and all(
        f"{name}.places" in tensors for name in VECTORS if there[name]
    )
    arrays: dict[str, Any] = {
        name: _numbers(tensors, name, shape_of(name, task, n_features), deflated, few=few)
        for name in (*VECTORS, *SPREADS)
        if there.get(name, spread is not None)
    }
    if spread is not None:
        require(spread.keys() == {"n_rows"}, "spread")
        low, high, deviation = (arrays.pop(name) for name in SPREADS)
        fields["spread"] = Spread(low, high, deviation, spread["n_rows"])
    fields["stored_encoding"] = StoredEncoding(fields.pop("encoding"), _named(tensors, "encoding."))
    fields["arrays"] = _named(tensors, "arrays.")
    own = fields["arrays"].get(THRESHOLDS)
    if own is not None and own.shape == (task.n_classes,):
        # Older files have none for the best label
        fields["arrays"][THRESHOLDS] = np.append(own, np.inf)
    require(not tensors, f"array {next(iter(tensors), '')!r:.60}")
    vectors = {name: arrays.pop(name) for name in VECTORS if name in arrays}
    _check_classes(fields["classes"])
    require(_is_count(fields["count"], least=1), "count of rows")
    for name, array in vectors.items():
        _check_array(name, array, shape_of(name, task, n_features))
    told = {name: fields.pop(name) for name in ("history", "outcome", "training", "verdict")}
    fields["record"] = Record(**told)
    fields["machine"] = _machine(fields, made_by, task, vectors, n_features)
    model = Model(made_by, **(fields | arrays))
    check(model, n_features, _spread_arrays(model))
    if few:
        vectors.clear()
        give_back()
    return model


def _mend_options(options: dict[str, Any]) -> None:
    """Change the options of older files to those of today; refuse what is no more."""
    options.pop("covariance", None)  # which says that it is diagonal
    if options.get("shuffle") == "blocks":  # groups took their place
        options["shuffle"] = True
    if any(options.pop(name, None) is not None for name in ("max_support", "budget")):
        fail("it limits its support rows, which this version does not; train it again")
    options.pop("eta", None)  # of such a limit


def _numbers(
    tensors: dict[str, NDArray[Any]],
    name: str,
    shape: tuple[int, ...],
    deflated: Collection[str],
    *,
    few: bool,
) -> Numbers:
    """Take an array out of the tensors; of weights, where there are ``few``, those that exist."""
    if name in SPREADS:
        return unpacked(tensors, name, shape, deflated)
    if few:
        flat, array = unpacked_places(tensors, name, shape, deflated)
    else:
        flat, array = np.empty(0), unpacked(tensors, name, shape, deflated)
    if array.dtype == np.float32 and not few:
        array = array.astype(np.float64)
    array = _to_one(array) if name == "variance" else array
    missing = float(name == "variance")
    return Scattered((shape[0], shape[1]), flat, array, missing) if few else array


def _machine(
    fields: dict[str, Any],
    made_by: LearnerRecord,
    task: Task,
    vectors: dict[str, NDArray[Any]],
    n_features: int,
) -> "Weights | KernelMachine":
    """Return what predicts, its own arrays taken from the others."""
    every, count = fields["arrays"], fields.pop("count")
    own = {name: every.pop(name) for name in [*every] if name.startswith((KERNEL_PREFIX, PREFIX))}
    if any(name.startswith(KERNEL_PREFIX) for name in own):
        from rosenblatt.models.kernel_machine import KernelMachine  # wanted by few

        try:
            return KernelMachine.stored(made_by.options, own, n_features, task.n_classes, count)
        except InputError as error:
            raise FormatError(str(error).removesuffix("."), "cannot be used") from error
    own_learner = made_by.own
    by_vote = made_by.name == "VotedPerceptron" if own_learner is None else own_learner.voted
    stored = own if own or by_vote else None
    how: dict[str, Any] = {"constant": made_by.constant, "stored": stored}
    kind = VotedWeights if by_vote else Weights
    return kind.of_arrays(task, **vectors, count=count, **how)


def _from_one(variance: NDArray[Any]) -> NDArray[Any]:
    """Return variances with 0 for 1, which most features of a wide model have: zeros are packed."""
    stored = variance.copy()
    stored[variance == 0.0] = -0.0
    stored[variance == 1.0] = 0.0
    return stored


def _to_one(stored: NDArray[Any]) -> NDArray[Any]:
    """Return what ``_from_one`` was given, in the same memory."""
    zero, negative = stored == 0.0, np.signbit(stored)
    stored[zero] = 1.0
    stored[zero & negative] = 0.0
    return stored


def _named(tensors: dict[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    names = [name for name in tensors if name.startswith(prefix)]
    return {name.removeprefix(prefix): tensors.pop(name) for name in names}


def versions(version: int = 1) -> dict[str, Json]:
    """Return what stands first in every stored model."""
    return {
        "format": "rosenblatt",
        "format_version": version,
        "library_version": __version__,
    }


def document_of(model: Model) -> dict[str, Json]:
    """Return the entries of a model."""
    kinds = model.machine.kinds
    others = {
        "learner": model.made_by.name,
        "options": model.made_by.options,
        "described": model.made_by.description,
        "averaged": "ledger" in kinds,
        "count": model.machine.count,
        "variance": "diagonal" if "variance" in kinds else None,
        "calibration": None if model.calibration is None else asdict(model.calibration),
        "spread": None if model.spread is None else {"n_rows": model.spread.n_rows},
    }
    entries = {key: others[key] if key in others else getattr(model, key) for key in ENTRIES}
    if model.made_by.description is None:
        del entries["described"]
    return {key: plain(value) for key, value in entries.items()}


def fields_of(document: dict[str, Json]) -> dict[str, Any]:
    """Return the fields of a model that its document holds whole."""
    document = {"described": None, **document}
    fields = {key: original(document[key]) for key in DECODED if key in document}
    for key, value in (dict.fromkeys(ENTRIES, ...) | document | fields).items():
        require(type(value) in ENTRIES.get(key, ()), f"entry {key!r:.60}")
    require(0 <= document["n_features"] < 2**48, "entry 'n_features'")  # before there are arrays
    require(all(isinstance(record, dict) for record in fields["history"]), "entry 'history'")
    names, calibration = document["feature_names"], document["calibration"]
    return fields | {
        "learner": document["learner"],
        "classes": tuple(document["classes"]),
        "count": document["count"],
        "calibration": None if calibration is None else _calibration(**calibration),
        "history": tuple(fields["history"]),
        "feature_names": None if names is None else tuple(names),
    }


def _calibration(points: Any = (), **entries: Any) -> Calibration:
    """Return the calibration of these entries; older files have no points."""
    try:
        return Calibration(**entries, points=tuple((x, p) for x, p in points))
    except (TypeError, ValueError):
        fail("its calibration is not there, or not what it must be")


def plain(value: object) -> Json:
    """Return a value as JSON has it, exact."""
    return wording.plain(value, _tagged, _escaped)


def _tagged(value: object) -> Json:
    return {TAG: repr(value)} if isinstance(value, float) and not math.isfinite(value) else value


def original(value: Json) -> Json:
    """Return what ``plain`` was given."""
    if isinstance(value, dict):
        if TAG in value:
            if [*value.items()] not in [[(TAG, text)] for text in NOT_FINITE]:
                raise damaged()
            return NOT_FINITE[value[TAG]]
        if any(key.startswith("$") and not key.startswith("$$") for key in value):
            raise damaged()
        return {key.removeprefix("$"): original(item) for key, item in value.items()}
    if isinstance(value, list):
        return [original(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise damaged()
    return value


def parse(text: str | bytes) -> Json:
    """Return the value of a JSON text."""
    try:
        return json.loads(text)
    except ValueError:  # no JSON, not UTF-8, or an integer of more digits than Python reads
        raise FormatError(
            "it is not JSON in UTF-8, or a number in it has too many digits"
        ) from None


def compact(value: Json) -> str:
    """Return JSON on one line, in ASCII."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"), default=no_form)


def no_form(value: object) -> NoReturn:
    """Raise FormatError for what JSON cannot hold."""
    fail(f"JSON has no form for {value!r:.60}, a {type(value).__name__}")


def _escaped(key: object) -> str:
    if not isinstance(key, str):
        fail(f"JSON has words as keys only; got {key!r:.60}")
    return f"${key}" if key.startswith("$") else str(key)
