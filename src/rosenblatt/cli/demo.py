"""The demo: training, evaluation and explanation on a real data set, by the commands themselves."""

import contextlib
import csv
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from rosenblatt.cli import options
from rosenblatt.cli.screen import CANNOT_RUN, Screen, ScreenCommand
from rosenblatt.errors import InputError

FILES = ("tumours.csv", "test.csv")  # to learn from, and to test with
TEST_SHARE = 4  # one row of four is kept for testing
TRAIN = "train tumours.csv --seed {seed}"
EVALUATE = "evaluate tumours.model test.csv --against most-frequent"
DIAGNOSE = "diagnose tumours.csv --scale"
WEIGHTS = "weights tumours.model -n 5"
EXPLAIN = "explain tumours.model test.csv --row {row} -n 5"


@click.command(cls=ScreenCommand)
@options.setting("random_state")
@options.value(
    "--write FOLDER",
    shown="show the demo",
    help="Only write the data of the demo, tumours.csv and test.csv, into this folder.",
)
def demo(screen: Screen, random_state: int, write: str | None) -> None:
    """Train a model on a real data set and show the result.

    The data set comes with scikit-learn: 569 tumours, described by 30 measurements of their cells.
    Is a tumour malignant or benign?
    """
    if write is not None:
        Path(write).mkdir(parents=True, exist_ok=True)
        names = [str(Path(write, name)) for name in FILES]
        for name in names:
            if Path(name).exists():
                raise InputError(f"{name} already exists; choose another folder.")
        with contextlib.chdir(write):
            write_files(random_state)
        if screen.wants_json:
            screen.json({"files": names})
        screen.show(f"Written: {' and '.join(names)}.")
        return
    documents: dict[str, Any] = {}

    def run(line: str, why: str) -> None:
        screen.heading(f"$ rosenblatt {line}")
        screen.show(f"# {why}")
        if screen.wants_json:
            documents[line.split(maxsplit=1)[0]] = json.loads(output_of(f"{line} --json"))
        else:
            output_of(line, shown=True)

    with tempfile.TemporaryDirectory(prefix="rosenblatt-demo-") as folder, contextlib.chdir(folder):
        labels = write_files(random_state)
        screen.show(
            "569 tumours, each described by 30 measurements of its cells (Wisconsin, 1993; the data"
            "\ncome with scikit-learn). Which are malignant? A quarter is kept for testing."
        )
        run(TRAIN.format(seed=random_state), "Train; a tenth of the rows decides when to stop.")
        run(EVALUATE, "How good is the model on new rows?")
        run(DIAGNOSE, "Can a linear boundary separate the classes? With a proof.")
        run(WEIGHTS, "Which measurements matter most?")
        predicted = output_of("predict tumours.model test.csv").splitlines()
        wrong = [
            row
            for row, pair in enumerate(zip(labels, predicted, strict=True), 1)
            if len({*pair}) > 1
        ]
        if wrong:
            run(EXPLAIN.format(row=wrong[0]), "Why is this row wrong?")
    if screen.wants_json:
        screen.json(documents)
    screen.show(
        "\nYour own data: rosenblatt train DATA.csv (or .tsv .svm .jsonl .parquet, also compressed)"
    )


def write_files(seed: int) -> list[str]:
    """Write a file to learn from and one to test with; return the labels of the second."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    order = np.random.default_rng(seed).permutation(len(bunch.target))
    labels = bunch.target_names[bunch.target]
    n_test = len(order) // TEST_SHARE
    for name, rows in zip(FILES, (order[n_test:], order[:n_test]), strict=True):
        with Path(name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*bunch.feature_names, "diagnosis"])
            writer.writerows([*bunch.data[row].tolist(), labels[row]] for row in rows)
    return [str(label) for label in labels[order[:n_test]]]


def output_of(line: str, *, shown: bool = False) -> str:
    """Run a command; return what it prints unless that is shown. End where it cannot run."""
    from rosenblatt.cli import main

    printed = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with contextlib.redirect_stdout(sys.stdout if shown else printed):
        status = main.main(line.split(), standalone_mode=False)
    printed.seek(0)
    if status == CANNOT_RUN:
        click.echo(printed.read(), nl=False)
        raise click.exceptions.Exit(CANNOT_RUN)
    return printed.read()
