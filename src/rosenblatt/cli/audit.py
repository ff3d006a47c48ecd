"""The command that lists labels that are probably wrong."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import click

from rosenblatt.cli import options, tagging
from rosenblatt.cli.predict import csv_lines
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.data.atomic import check_target, replacing
from rosenblatt.data.files import Layout
from rosenblatt.data.tables.table import distinct_names
from rosenblatt.tuning.audit import Audit, Suspect
from rosenblatt.tuning.audit import audit as audit_files
from rosenblatt.wording import Cell, cell_text, percent, printable

WIDEST = 60  # characters of a row that are shown


@click.command(
    cls=ScreenCommand,
    example="rosenblatt audit mail.csv --text body --out doubtful.csv",
    common=("top", "out", "folds", "label", "text", "category", "ignore", "rule", "bad_rows"),
)
@click.argument("data", nargs=-1, required=True, type=click.Path())
@options.number("--top", default=20, help="Number of rows to print, the most doubtful first.")
@options.value(
    "--out CSV",
    group="Output",
    shown="none",
    help="File to write all doubtful rows to, with their values.",
)
@options.number(
    "--folds",
    low=2,
    metavar="K",
    default=5,
    group="Learning",
    help="Number of folds; each is judged by a model of the others.",
)
@options.recipe
@options.settings(*options.KERNEL, *options.SEVERAL)
@options.layout
@tagging.learned_options
def audit(
    screen: Screen,
    data: Sequence[str],
    top: int,
    out: str | None,
    folds: int,
    layout: Layout,
    **recipe: Any,
) -> None:
    """List the rows of DATA whose labels are probably wrong.

    DATA: files or patterns such as "part-*.csv". Each row is judged by a model that has learned
    from other rows only; a row is listed if another label is more probable there than its own.
    Where rows may have several labels, it is listed for each one to remove and each one to add.
    Whether that is a mistake in the data or an unusual row is for you to see. The options of train
    say what is learned. Of sentences, tags of tokens are listed.
    """
    if out is not None:
        check_target(out, data)

    tell = partial(screen.show_fold, folds=folds)
    found = audit_files(data, folds=folds, tell=tell, **recipe | asdict(layout))
    joint = recipe["label_separator"] or ";"
    if out is not None:
        with replacing(out) as file:
            file.writelines(csv_lines([_columns(found, joint)]))
        screen.wrote(out)
    for note in found.notes:
        screen.warn(note)
    if screen.wants_json:
        report = found.report() | found.files.report()
        screen.json(report | {"data": list(data), "suspects": report["suspects"][:top]})
        return
    screen.show(f"{found.summary} ({found.title}, {folds} folds).")
    screen.pairs(found.files.decided())
    lines: list[list[Cell]] = [
        [
            printable(f"{row.file}:{row.line}"),
            _shortened(_label(row.label, joint)),
            str(row.suggested),
            percent(row.probability),
            _shortened(_text(row)),
        ]
        for row in found.suspects[:top]
    ]
    if lines:
        screen.table(("place", "label", "suggested", "label is right", "row"), lines)
    if out is not None:
        screen.show(f"All of them: {printable(out)}")
    elif (n := len(found.suspects)) > top:
        screen.show(f"{n - top:,} more: --top {n}, or --out FILE.csv for all with their values.")


def _columns(found: Audit, joint: str) -> dict[str, list[Any]]:
    """Return the suspects as columns of a table, with those of the files behind."""
    own = [name for name in Suspect._fields if name != "values"]
    names = list(dict.fromkeys(name for row in found.suspects for name in row.values))
    rows = [row._replace(label=_label(row.label, joint)) for row in found.suspects]
    parts = [[getattr(row, name) for row in rows] for name in own]
    parts += [[row.values.get(name) for row in found.suspects] for name in names]
    return dict(zip(distinct_names([*own, *names]), parts, strict=True))


def _label(label: Any, joint: str) -> str:
    """Return the label of a row, or all of them."""
    return joint.join(map(str, label)) if isinstance(label, tuple) else str(label)


def _text(row: Suspect) -> str:
    """Return what stands in a row: a single column as it is."""
    values = [(n, cell_text(value)) for n, value in row.values.items() if value is not None]
    one = len(row.values) == 1
    text = " ".join(f"{value}" if one else f"{name}={value}" for name, value in values)
    return printable(" ".join(text.split()))


def _shortened(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"
