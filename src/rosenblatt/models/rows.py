"""Rows of files and arrays: as a model knows their features, or all of them in memory."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch, unfamiliar
from rosenblatt.data.files import Columns, Encoding, Files, Layout, TrainingFiles
from rosenblatt.data.labels import Classes, sides_of
from rosenblatt.errors import InputError, UnfamiliarDataWarning, warn_caller
from rosenblatt.kernels.rows import CSR, Dense
from rosenblatt.kernels.shapes import canonical, dense_values, take
from rosenblatt.lazy import public_name
from rosenblatt.tasks.label_sets import Sets
from rosenblatt.tasks.labels_met import LabelsMet
from rosenblatt.tasks.leads import targets_of
from rosenblatt.training.examples import ClassWeight, Examples, class_weights
from rosenblatt.training.streaming import Reading
from rosenblatt.wording import word_list

if TYPE_CHECKING:
    from rosenblatt.models.forms import FittedForm
    from rosenblatt.models.model import Model

MOST_BYTES = 1 << 30  # of parsed rows in memory
MOST_NAMED = 1000  # features
MOST_DENSE_COLUMNS = 200  # of rows that are taken as an array where all are looked at together


def answered_rows(model: "Model", X: Any) -> tuple["Model", Batch]:
    """Return rows and the model that has their features: those of a batch are of this model."""
    if isinstance(X, Batch):
        return model, X
    return model.merged, input_rows(model.merged, X)


def input_rows(model: "Model", X: Any, classes: Classes | None = None) -> Batch:
    """Return rows in memory, of the kind that the model was trained on, as a batch.

    A model of columns takes a data frame, dictionaries or texts, one of which is one row; a model
    of arrays or of numbered features, which count from 0 here, arrays and sparse matrices; any
    model a batch of ``Model.rows``. Labels are read where there are classes to number them.
    """
    if isinstance(X, Batch):
        return X
    encoder = model.encoder
    table = model.table
    if table is not None:
        batch = table.encode_frame([X] if isinstance(X, (Mapping, str)) else X, classes)
        strange = unfamiliar(int(np.count_nonzero(np.diff(batch.indptr) == 0)), batch.n_rows)
        for note in [*table.spelling_notes(), *([] if strange is None else [strange])]:
            warn_caller(note, UnfamiliarDataWarning)
    else:
        batch, n_features = batch_of(X), (encoder.inner if encoder else model).n_features
        if batch.n_features != n_features:
            msg = f"X has {batch.n_features} features; the model was trained on {n_features}."
            raise InputError(msg)
    return batch if encoder is None else encoder.expand(batch)


def batch_of(X: Any) -> Batch:
    """Return the rows of an array or a sparse matrix as a batch without labels."""
    from scipy import sparse

    rows = sparse.csr_array(X if sparse.issparse(X) else np.atleast_2d(np.asarray(X, float)))
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    rows = canonical(rows)
    return Batch(
        rows.data,
        rows.indices.astype(np.int32, copy=False),
        rows.indptr.astype(np.int64, copy=False),
        labels=np.full(rows.shape[0], -1, np.int32),
        n_features=rows.shape[1],
        file="X",
        n_lines=rows.shape[0],
    )


@dataclass(frozen=True)
class FileRows:
    """Rows, their labels and the names of their features."""

    rows: CSR
    numbers: NDArray[Any]  # of the class of each row, or of its set of labels
    classes: tuple[Any, ...]  # sorted
    names: tuple[str, ...]
    encoding: Encoding  # how they were made of what the files hold
    files: Files  # which know how they were read
    weights: NDArray[Any] | None = None  # of the rows, where the files have them
    groups: NDArray[np.uint64] | None = None  # likewise
    met: LabelsMet = field(default_factory=LabelsMet)  # what the numbers stand for
    written: tuple[Any, ...] = ()  # what a batch has by these numbers: classes, or sets of them

    @property
    def sets(self) -> Sets | None:
        """The labels that each number stands for, where it stands for a set of them."""
        return self.met.sets

    @property
    def labels(self) -> list[Any]:
        """The label of each row; as text where one is a fraction, which scikit-learn refuses."""
        fractions = any(isinstance(one, float) and not one.is_integer() for one in self.classes)
        classes = [*map(str, self.classes)] if fractions else self.classes
        return [classes[number] for number in self.numbers.tolist()]

    def notes(self) -> list[str]:
        """Return what a person should know of the columns and of rows that were skipped."""
        files, decisions = self.files, self.files.decisions
        of_columns = [] if decisions is None else decisions.notes
        return [*of_columns, *files.reading_notes(), *files.bad_rows.notes()]

    def examples(self, most_columns: int = 0) -> Examples:
        """Return what is learned from; dense rows where they have few columns."""
        targets = targets_of(self.numbers, len(self.classes))
        if self.rows.n_features > most_columns:
            return Examples(self.rows, targets)
        return Examples(Dense(dense_values(self.rows, float), self.rows.constant), targets)

    def row_weights(self, class_weight: ClassWeight | None) -> NDArray[Any] | None:
        """Return what multiplies the step of each row, by itself and by its class; None: 1."""
        counts = np.bincount(self.numbers, minlength=len(self.classes))
        by_class = class_weights(class_weight, self.classes, counts)
        if by_class is None:
            return self.weights
        found: NDArray[Any] = by_class[self.numbers]
        return found if self.weights is None else found * self.weights

    def take(self, numbers: NDArray[Any]) -> "FileRows":
        """Return the rows of these numbers as if they were all."""
        rows: Any = take(self.rows, numbers)
        own = {name: getattr(self, name) for name in ("weights", "groups")}
        taken = {name: array[numbers] for name, array in own.items() if array is not None}
        return replace(self, rows=rows, numbers=self.numbers[numbers], **taken)

    @property
    def known(self) -> tuple[Any, ...]:
        """The classes by which other rows are numbered; none where sets of labels are."""
        return self.classes if self.sets is None else ()

    def of_one_class(self, text: str | None) -> "FileRows":
        """Return the rows with one class each: of labels, with the one written so or without."""
        return self if self.sets is None else self.of_class(text)

    def of_class(self, text: str | None) -> "FileRows":
        """Return the rows as those of two classes: with the class or label written so, or not.

        None: as they are, which is an error where a row may have several labels.
        """
        if text is None:
            self.met.check_one_class(self.files.names[0])
            return self
        written = [str(one) for one in self.classes]
        if text not in written:
            known, name = word_list(written), self.files.names[0]
            raise InputError(f"No row of {name} has the label {text!r}; there are {known}.")
        number = written.index(text)
        own = self.met.has(self.numbers, number)
        sides = sides_of(text)
        return replace(
            self, numbers=own.astype(np.int64), classes=sides, written=sides, met=LabelsMet(sides)
        )

    def batch(self, numbers: NDArray[Any]) -> Batch:
        """Return the rows of these numbers as if they were all that the files hold."""
        some = self.take(numbers)
        return Batch(
            some.rows.data,
            some.rows.indices,
            some.rows.indptr,
            labels=some.numbers.astype(np.int32),
            classes=self.written,
            n_features=self.rows.n_features,
            file=self.files.names[0],
            n_lines=len(numbers),
            weights=some.weights,
            groups=some.groups,
        )


def first_equal(rows: CSR, most: int) -> NDArray[np.intp]:
    """Return for each row the number of the first one that is equal to it.

    Where more than ``most`` are equal, each stands for itself.

    >>> rows = batch_of(np.array([[1, 0], [0, 2], [1, 0], [3, 3], [3, 3], [3, 3]]))
    >>> first_equal(rows.csr(2, 1.0), 2).tolist()
    [0, 1, 0, 3, 4, 5]
    """
    met: dict[bytes, int] = {}
    found = np.empty(len(rows.indptr) - 1, np.intp)
    for k, (start, end) in enumerate(pairwise(rows.indptr.tolist())):
        content = rows.indices[start:end].tobytes() + rows.data[start:end].tobytes()
        found[k] = met.setdefault(blake2b(content, digest_size=16).digest(), k)
    often = np.bincount(found, minlength=len(found))[found] > most
    return np.where(often, np.arange(len(found)), found)


def verdict_on(
    rows: CSR, labels: Any, encoding: Encoding, shaped: Callable[[CSR], Any], **how: Any
) -> Any:
    """Return the verdict of ``diagnose`` on rows of an encoding, with the names of its features.

    What a logistic regression finds is said of the numbers in the files: if they are scaled, it
    finds the same, but rounding may move a row off the boundary that the classes touch in.
    """
    diagnose, how = public_name("diagnose"), how | {"feature_names": names_of(rows, encoding)}
    found = diagnose(shaped(rows), labels, **how)
    read = encoding.unscaled_rows(rows)
    if read is rows:
        return found
    own = diagnose(shaped(read), labels, **how | {"permute": 0})
    agrees = (found.status == "separable") == (own.status == "separable")
    notes = () if agrees else (f"the numbers in the file, unlike scaled ones, are {own.status}",)
    return replace(found, estimates=own.estimates, notes=(*found.notes, *notes))


def names_of(rows: CSR, encoding: Encoding) -> tuple[str, ...] | None:
    """Return the names of features, None if they are too many to be read."""
    n = rows.n_features
    return None if n > MOST_NAMED else tuple(encoding.names(range(n)))


def read_rows(paths: Sequence[str], layout: Layout, columns: Columns, **how: Any) -> FileRows:
    """Read all rows of files into memory (at most 1 GB); see ``source_rows``."""
    return source_rows(TrainingFiles(Files(paths, layout), columns), **how)


def source_rows(
    source: TrainingFiles,
    *,
    fit_intercept: bool = True,
    encoded: bool = True,
    choose: "Callable[[Reading], FittedForm | None]" = lambda _: None,
) -> FileRows:
    """Read all rows of files into memory; what is not ``encoded`` can still have any form.

    ``choose`` may choose one when they have been read.
    """
    files = source.files
    reading = source.read(lambda: Reading(source, keep=False, block_bytes=MOST_BYTES))
    block = reading.first
    if not block.last:
        reading.close()
        name, most = files.names[0], MOST_BYTES >> 30
        raise InputError(f"{name} is too large for this: it takes rows of at most {most} GB.")
    reading.check_classes()
    chosen = choose(reading)
    encoding = cast("Encoding", source.encoding) if chosen is None else chosen.encoding
    if encoded:
        reading.encode(None if chosen is None else chosen.form)
    block, n_features = reading.first, encoding.n_features
    rows = block.csr(n_features, 1.0 if fit_intercept else 0.0)
    numbers = reading.met.ranks[block.labels]
    names = names_of(rows, encoding) or ()
    facts = reading.classes, names, encoding, files, block.weights, block.groups
    return FileRows(rows, numbers, *facts, reading.met, reading.met.written(block.classes))
