"""The command that says whether a linear boundary separates the classes, with a proof."""

from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from rosenblatt.cli import options
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.cli.spelling import for_command
from rosenblatt.data.files import Columns, Layout
from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import CSR
from rosenblatt.kernels.shapes import matrix_of as sparse_matrix
from rosenblatt.models.rows import FileRows, read_rows, verdict_on

MOST_FOR_CYCLE = 100_000  # values
MOST_DENSE = 0.5  # share of values that are there, above which rows are taken as an array

MOST_WHOLE = 2**53 * (1 - 2**-50)  # about, as what was scaled and is scaled back is rounded


@click.command(cls=ScreenCommand, example="rosenblatt diagnose iris.csv")
@click.argument("data", nargs=-1, required=True, type=click.Path())
@options.settings(*options.COLUMNS, "label_separator")
@options.one_class
@options.layout
@options.setting("scale", default=False)
@options.setting(
    "time_limit",
    default=60.0,
    shown="",
    help="Time limit of the search for a proof: 90, 90s, 5m, 1h.",
)
@options.number(
    "--permute",
    low=0,
    default=0,
    help="Permute the labels at random N times; print how many permutations are separable.",
)
@click.option(
    "--logistic",
    is_flag=True,
    help="Print first whether a logistic regression without a penalty has estimates, and which "
    "coefficients are infinite.",
)
def diagnose(
    screen: Screen,
    data: Sequence[str],
    layout: Layout,
    time_limit: float,
    permute: int,
    logistic: bool,
    class_: str | None,
    **columns: Any,
) -> bool:
    """Prove whether the classes of DATA are linearly separable.

    Separable: prints a certain interval for the margin and the number of mistakes that the
    convergence theorem allows. Inseparable: prints a proof, such as equal rows with different
    labels, or mixtures of rows of both classes that are the same point. Exit code 0 if separable,
    else 1. DATA: files, patterns such as "part-*.csv", or "-" for standard input.
    """
    rows = read_rows(data, layout, Columns(**columns)).of_class(class_)
    for note in rows.notes():
        screen.warn(note)
    _check_whole(rows)
    verdict = verdict_on(
        rows.rows, rows.labels, rows.encoding, matrix_of, time_limit=time_limit, permute=permute
    )
    cycle = None if verdict.status == "separable" else _cycle(matrix_of(rows.rows), rows.labels)
    verdict = for_command(verdict)
    if screen.wants_json:
        passes = None if cycle is None else {"first": cycle.first, "again": cycle.again}
        report = {"data": list(data), **verdict.as_json(), "cycle": passes}
        screen.json(report | rows.files.report())
    else:
        if logistic:
            screen.show(str(verdict.estimates))
        screen.show(str(verdict))
        screen.pairs(rows.files.decided())
        if cycle is not None:
            start = f"pass {cycle.first}" if cycle.first else "none"
            screen.show(
                "      cycle  a perceptron in the order of the file has the same weights after "
                f"{start} and pass {cycle.again}"
            )
    return verdict.status == "separable"


def _check_whole(rows: FileRows) -> None:
    """Raise InputError for a number so large that several whole ones are read as the same.

    A verdict on what was read would then be a proof about other rows than those of the file.
    """
    csr = rows.encoding.unscaled_rows(rows.rows)
    numbers = csr.data
    beyond = np.flatnonzero(np.abs(numbers) >= MOST_WHOLE)
    if len(beyond):
        row = int(np.searchsorted(csr.indptr, beyond[0], side="right"))
        (name,) = rows.encoding.names([int(csr.indices[beyond[0]])])
        raise InputError(
            f"{rows.files.names[0]}: row {row} has {numbers[beyond[0]]:.17g} in"
            f" '{name}'. From 2^53 on, different whole numbers are read as the same, so that a"
            " verdict would prove nothing. Subtract a constant from them first, or leave them out."
        )


def _cycle(X: Any, labels: Sequence[Any]) -> Any:
    """Return the cycle of training on whole numbers, where there is one and it is soon found."""
    from rosenblatt.theory.cycle import find_cycle

    if X.shape[0] * X.shape[1] > MOST_FOR_CYCLE:
        return None
    try:
        return find_cycle(X, labels, max_passes=200)
    except InputError:  # not whole numbers, or more than two classes
        return None


def matrix_of(rows: CSR) -> Any:
    """Return rows as an array, or as a sparse matrix where most values are 0."""
    X = sparse_matrix(rows)
    return X.toarray() if X.nnz >= MOST_DENSE * X.shape[0] * X.shape[1] else X
