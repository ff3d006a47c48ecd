"""The command that labels rows."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli.options import layout_options
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.wording import printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.data.files import Layout
    from rosenblatt.models.model import Model


ABSTAINED = -1  # in place of the number of a class


@click.command(
    cls=ScreenCommand,
    example="rosenblatt predict spam.model new.csv -o labels.txt",
    json_help="Print one JSON object per row.",
)
@click.argument("model_path", metavar="MODEL", type=click.Path())
@click.argument("data", nargs=-1, required=True, type=click.Path())
@layout_options
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="FILE",
    show_default="standard output",
    help="File to write the predictions to.",
)
@click.option("--scores", is_flag=True, help="Add the score, or one score per class.")
@click.option(
    "--abstain-below",
    type=click.FloatRange(0, 1),
    metavar="MARGIN",
    show_default="never abstain",
    help="Print ? for rows with a smaller vote margin; needs train --memory vote.",
)
@click.option(
    "--proba", is_flag=True, help="Add the probability of each class; needs train --calibrate."
)
def predict(
    screen: Screen,
    model_path: str,
    data: Sequence[str],
    layout: "Layout",
    output: str,
    scores: bool,
    abstain_below: float | None,
    proba: bool,
) -> None:
    """Predict the label of each row of DATA, one per line, as the rows arrive.

    DATA: files, patterns such as "part-*.csv", or "-" for standard input. Labels in DATA are
    ignored. With two classes there is one score; above 0 it means the second class.
    """
    from rosenblatt.data.atomic import replacing
    from rosenblatt.errors import InputError
    from rosenblatt.models.file import read
    from rosenblatt.models.rows import model_rows
    from rosenblatt.models.scoring import Scorer

    model = read(model_path)
    if proba and model.calibration is None:
        msg = f"{model_path} has no probabilities; train it with --calibrate to get them."
        raise InputError(msg)
    scorer, prompt = Scorer(model), "-" in data
    if abstain_below is not None and not scorer.voted:
        msg = f"--abstain-below needs a model trained with --memory vote; {model_path} is not."
        raise InputError(msg)
    write = (json_lines if screen.wants_json else plain_lines)(model, scores=scores, proba=proba)
    with replacing(output) as file:
        for batch in model_rows(model, data, layout=layout, prompt=prompt, need_labels=False):
            found = scorer.scores(batch)
            numbers = scorer.numbers(found)
            if abstain_below is not None:
                numbers[scorer.margins(found) < abstain_below] = ABSTAINED
            file.write(write(found, numbers))
            if prompt:
                file.flush()


Written = Callable[["NDArray[Any]", "NDArray[Any]"], bytes]


def plain_lines(model: "Model", *, scores: bool, proba: bool) -> Written:
    """Return what writes a line for each row: the label, and behind tabs what else is asked for."""
    labels = [*(printable(str(label)) for label in model.classes), "?"]

    def write(found: "NDArray[Any]", numbers: "NDArray[Any]") -> bytes:
        columns: list[Iterable[str]] = [[labels[k] for k in numbers.tolist()]]
        if scores:
            columns += [map(repr, column) for column in _columns(found)]
        if proba:
            columns += [map(repr, column) for column in _columns(_probabilities(model, found))]
        return "".join(f"{line}\n" for line in map("\t".join, zip(*columns, strict=True))).encode()

    return write


def json_lines(model: "Model", *, scores: bool, proba: bool) -> Written:
    """Return what writes a JSON object for each row."""
    from json import dumps

    names, labels = [str(label) for label in model.classes], [*model.classes, None]

    def write(found: "NDArray[Any]", numbers: "NDArray[Any]") -> bytes:
        records: list[dict[str, Any]] = [{"label": labels[k]} for k in numbers.tolist()]
        for record, score in zip(records, found.tolist() if scores else (), strict=False):
            if isinstance(score, list):
                record["scores"] = dict(zip(names, score, strict=True))
            else:
                record["score"] = score
        shares = _probabilities(model, found).tolist() if proba else ()
        for record, share in zip(records, shares, strict=False):
            record["probabilities"] = dict(zip(names, share, strict=True))
        return "".join(f"{dumps(record, ensure_ascii=False)}\n" for record in records).encode()

    return write


def _columns(numbers: "NDArray[Any]") -> list[list[float]]:
    columns: list[list[float]] = numbers.reshape(len(numbers), -1).T.tolist()
    return columns


def _probabilities(model: "Model", scores: "NDArray[Any]") -> "NDArray[Any]":
    from rosenblatt.models.calibration import probabilities

    if model.calibration is None:
        msg = "A model without a calibration has no probabilities."
        raise AssertionError(msg)
    return probabilities(model.calibration, scores)
