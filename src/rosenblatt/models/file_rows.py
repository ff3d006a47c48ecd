"""Rows of files as features that a model knows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding import (
    GridEncoding,
    SvmlightEncoding,
    TableEncoding,
    encoding_from,
)
from rosenblatt.data.encoding.numbered import check_width
from rosenblatt.data.files import Encoding, Files, Layout, encoded
from rosenblatt.data.sources import Paths
from rosenblatt.errors import InputError, Parameter

if TYPE_CHECKING:
    from rosenblatt.models.model import Model


@dataclass(frozen=True, eq=False)
class StoredEncoding:
    """How columns become features, as a model file has it; made ready when it is first used."""

    document: dict[str, Any] | None = None  # None: the model learned from arrays
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)  # its large parts

    @classmethod
    def of(cls, encoding: Encoding) -> "StoredEncoding":
        """Return what a file has of an encoding."""
        return cls(encoding.as_json(), encoding.arrays())

    @cached_property
    def encoder(self) -> Encoding | None:
        """What makes features of the columns of files; None for a model of arrays."""
        return None if self.document is None else encoding_from(self.document, self.arrays)


def encoder_of(model: "Model") -> Encoding | None:
    """Return what makes features of columns; None for a model of arrays."""
    if model.encoding is not None:
        check_width(model.encoding, model.n_features)  # before anything is made of that size
    return model.stored_encoding.encoder


def table_of(model: "Model") -> TableEncoding | None:
    """Return what makes features of columns; None for a model of numbered features."""
    encoder = encoder_of(model)
    return None if encoder is None else encoder.table


def merged_of(model: "Model") -> "Model":
    """Return the model as it is read and predicts fastest, made anew when it has learned on."""
    if model.encoding is None or model.encoding["kind"] != GridEncoding.kind:
        return model
    from rosenblatt.models.merging import merged

    known = vars(model).get("_merged")
    if known is None or known[0] != model.count:
        known = vars(model)["_merged"] = model.count, merged(model)
    found: Model = known[1]
    return found


def label_separator(model: "Model") -> str:
    """Return the separator for writing several labels of a row."""
    table = table_of(model)
    own = "" if table is None else table.label_separator
    return own if own.isprintable() and own else ";"


def rows_of(
    model: "Model",
    paths: Paths | Files,
    *,
    layout: Layout | None = None,
    prompt: bool = False,
    need_labels: bool = True,
    learn: bool = False,
    keep: Sequence[str] = (),
    tell: Callable[[str], object] | None = None,
) -> Iterator[Batch]:
    """Yield the rows of files in batches, as features that a model knows.

    In them the classes of the model come first, in its order, then labels that it does not
    know; a row without a label has −1. Where rows may have several labels, classes are sets of
    them, as they are written, in the order in which they come. With ``prompt`` rows come as
    soon as they arrive. The columns of ``keep`` come along as they are; ``tell`` is a function
    of sentences on what was unusual. ``Files`` have a layout of their own, and know
    afterwards how they were read. To ``learn``, every row needs a label.
    """
    files = paths
    if not isinstance(files, Files):
        files = Files(files, layout or Layout(), prompt=prompt)
    files.answers = not need_labels
    encoding, zero_based = model.encoder, files.layout.zero_based
    if encoding is None:  # learned from arrays: rows there have numbered features
        if zero_based is None:
            raise InputError(
                "The model was saved from Python, where features count from 0; files may count "
                "from 0 or 1: set "
                f"{Parameter('zero_based', value=True)} or "
                f"{Parameter('zero_based', value=False)}."
            )
        encoding = SvmlightEncoding(zero_based=zero_based, n_features=model.n_features)
    how: dict[str, Any] = {"need_labels": need_labels, "learn": learn, "keep": keep}
    batches = encoded(files, encoding, model.task.known(model.classes), **how)
    return batches if tell is None else _with_notes(batches, files, tell)


def _with_notes(
    batches: Iterator[Batch], files: Files, tell: Callable[[str], object]
) -> Iterator[Batch]:
    yield from batches
    for note in files.notes if files.prompt else files.reading_notes():
        tell(note)
