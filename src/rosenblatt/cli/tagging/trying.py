"""How ``audit`` lists tags that are probably wrong, and how ``tune`` finds the way to learn."""

import shlex
from collections.abc import Sequence
from typing import Any

import click

from rosenblatt.cli.predict import csv_lines
from rosenblatt.cli.screen import Screen
from rosenblatt.cli.spelling import flag
from rosenblatt.cli.tagging.learning import reading_of
from rosenblatt.cli.tune import train_command
from rosenblatt.data.atomic import check_target, replacing
from rosenblatt.errors import Parameter
from rosenblatt.models.sentence_files import learner_of, train_sentences
from rosenblatt.tuning.tags import AROUND, Corpus, TagSuspect, audit_tags, tune_tags
from rosenblatt.wording import Cell, counted, percent, printable

OF_CORPUS = ("label", "template", "transitions", "format")
COLUMNS = ("file", "line", "word", "label", "suggested", "probability")


def _parts(given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what options say of files, and of the learner."""
    reading = reading_of(given)
    corpus = {name: given.pop(name) for name in OF_CORPUS if name in given}
    return corpus | {"encoding": reading}, given


def audit(
    screen: Screen,
    data: Sequence[str],
    top: int = 20,
    out: str | None = None,
    folds: int = 5,
    **given: Any,
) -> None:
    """List tokens whose tags are probably wrong, each with its sentence."""
    if "-" in data:
        msg = "audit reads the data twice: give files, not standard input."
        raise click.UsageError(msg)
    if out is not None:
        check_target(out, data)
    of_corpus, learning = _parts(given)
    min_count = learning.pop("min_count", 1)
    found = audit_tags(
        *(Corpus(data, **of_corpus), learner_of(**learning)),
        n_folds=folds,
        min_count=min_count,
        tell=screen.show_fold,
    )
    if out is not None:
        columns = {name: [getattr(one, name) for one in found.suspects] for name in COLUMNS}
        columns["sentence"] = [" ".join(one.sentence) for one in found.suspects]
        with replacing(out) as file:
            file.writelines(csv_lines([columns]))
        screen.wrote(out)
    for note in found.notes:
        screen.warn(f"{note} ({flag(Parameter('transitions'))})")
    if screen.wants_json:
        report = found.report()
        screen.json(report | {"data": list(data), "suspects": report["suspects"][:top]})
        return
    screen.show(
        f"{len(found.suspects):,} of {counted(found.n_tokens, 'tag')} are probably wrong "
        f"({found.title}, {folds} folds of {counted(found.n_sentences, 'sentence')})."
    )
    rows: list[list[Cell]] = [
        [
            printable(f"{one.file}:{one.line}"),
            printable(one.label),
            printable(one.suggested),
            percent(one.probability),
            _around(one),
        ]
        for one in found.suspects[:top]
    ]
    if rows:
        screen.table(("place", "tag", "suggested", "tag is right", "sentence"), rows)
    if out is not None:
        screen.show(f"All of them: {printable(out)}")
    elif (n := len(found.suspects)) > top:
        screen.show(f"{n - top:,} more: --top {n}, or --out FILE.csv for all with sentences.")


def _around(suspect: TagSuspect) -> str:
    """Return the words near a doubtful one, which stands in brackets."""
    first = max(suspect.place - AROUND, 0)
    last = suspect.place + AROUND + 1
    words = suspect.sentence
    parts = [*words[first : suspect.place], f"[{suspect.word}]", *words[suspect.place + 1 : last]]
    before, behind = "… " if first else "", " …" if last < len(words) else ""
    return printable(f"{before}{' '.join(parts)}{behind}")


def tune(
    screen: Screen,
    data: Sequence[str],
    output: str | None = None,
    folds: int = 1,
    time_limit: float | None = None,
    **given: Any,
) -> None:
    """Search for the rule, its parameter and the passes that do best on held-out sentences."""
    if output is not None:
        check_target(output, data)
    of_corpus, fixed = _parts(dict(given))
    trials = tune_tags(
        *(Corpus(data, **of_corpus), fixed),
        n_folds=folds,
        time_limit=time_limit,
        tell=lambda done, of: screen.bar(f"{done} of {of} ways") if screen.draws_talk else None,
    )
    best = trials[0]
    command = train_command([*map(shlex.quote, data)], best.options)
    if screen.wants_json:
        told = [one._asdict() | {"error": one.error} for one in trials]
        screen.json({"command": command, "chosen": best.options, "trials": told})
    else:
        rows: list[list[Cell]] = [
            [one.name, percent(one.error), one.passes, f"{one.seconds:.2f}"] for one in trials
        ]
        screen.table(("learner", "error", "passes", "seconds"), rows, "Tried, the best first")
        by = f"{folds} folds" if folds > 1 else "a fifth of the sentences"
        screen.show(
            f"\nBest: {percent(best.error)} of the tokens wrong on {by}, chosen among "
            f"{len(trials)}, so new sentences may do worse."
        )
        screen.show(f"Command: {command}")
    if output is not None:
        reading = of_corpus.pop("encoding")
        how = {**of_corpus, **fixed, **best.options}
        train_sentences(data, encoding=reading, **how).save(output)
        screen.wrote(output)
        screen.say(f"Model: {printable(output)}")
