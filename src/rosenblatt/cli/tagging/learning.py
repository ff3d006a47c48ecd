"""How ``train`` learns to tag the tokens of sentences."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from click import UsageError

from rosenblatt.cli.screen import Screen
from rosenblatt.cli.spelling import flag
from rosenblatt.cli.training import free_model_path
from rosenblatt.data.atomic import check_target
from rosenblatt.errors import Parameter
from rosenblatt.models.guarantee import with_guarantee
from rosenblatt.models.model import Model
from rosenblatt.models.sentence_files import FileTagger, train_sentences
from rosenblatt.models.tag_guarantee import sentences_apart
from rosenblatt.models.tag_pruning import pruned_tagger
from rosenblatt.tasks.tag_evaluation import TagEvaluation
from rosenblatt.training.history import PassRecord
from rosenblatt.wording import counted, number, printable, size_text

MOST_LISTED = 20  # tags
READING = ("encoding", "encoding_errors")


def reading_of(given: dict[str, Any]) -> dict[str, Any]:
    """Take what options say of the text of files."""
    return {name: given.pop(name) for name in READING if name in given}


def train(
    screen: Screen,
    data: Sequence[str],
    output: str | None = None,
    force: bool = False,
    start: str | None = None,
    test: Sequence[str] = (),
    verbose: bool = False,
    max_size: int | None = None,
    guarantee: str | float | None = None,
    **given: Any,
) -> None:
    """Learn from sentences, write the model and print how it went."""
    path = output or free_model_path(data, force=force, new=start is None)
    check_target(path, [*data, *test])
    reading = reading_of(given)
    if start is None:
        model = _trained(screen, data, verbose=verbose, encoding=reading, **given)
    else:
        model = _continued(screen, start, data, reading, **given)
    if max_size is not None:
        model, _, n_dropped = pruned_tagger(model, max_size)
        if n_dropped:
            screen.say(f"--max-size: dropped {n_dropped:,} features, the weakest.")
    if guarantee is not None:
        model = _guaranteed(model, guarantee, given.get("format"), reading)
    model.save(path)
    screen.wrote(path)
    tagger = FileTagger(model)
    judged: TagEvaluation | None = None
    if test:
        files = [tagger.file(name, given.get("format"), **reading) for name in test]
        judged = tagger.evaluation(files, label=given.get("label"))
    if screen.wants_json:
        screen.json(
            {
                "model": path,
                "from": start,
                "learner": model.learner,
                "options": model.options,
                "tags": list(tagger.tags.outer),
                "n_features": tagger.encoding.n_features,
                **model.training,
                **model.outcome,
                "history": list(model.history),
                "test": None if judged is None else judged.report(),
            }
        )
        return
    _show(screen, model, tagger, path, (" ".join(test), judged))


def _guaranteed(
    model: Model, wanted: str | float, format_: str | None, reading: dict[str, Any]
) -> Model:
    """Return a model with what a guarantee needs: how sure it was of other sentences."""
    if isinstance(wanted, float):
        msg = "--guarantee SHARE is not available for sentences; name a file of others."
        raise UsageError(msg)
    tagger = FileTagger(model)
    if tagger.fitted.calibration is None:
        msg = "--guarantee needs probabilities: add --calibrate, without --max-size."
        raise UsageError(msg)
    return with_guarantee(model, sentences_apart(tagger, [tagger.file(wanted, format_, **reading)]))


def _trained(screen: Screen, data: Sequence[str], *, verbose: bool = False, **given: Any) -> Model:
    """Return a new model; a line a pass where that is wanted."""

    def tell(record: PassRecord) -> None:
        held = ""
        if record.validation_score is not None:
            held = f", held-out tokens right {100 * record.validation_score:.2f}%"
        screen.say(f"  pass {record.pass_}: {record.mistakes:,} wrong sentences{held}")

    model = train_sentences(data, observers=[tell] if verbose else [], **given)
    for note in model.training["notes"]:
        screen.warn(f"{note} ({flag(Parameter('transitions'))})")
    return model


def _continued(
    screen: Screen, start: str, data: Sequence[str], reading: dict[str, Any], **given: Any
) -> Model:
    """Return a model that has learned more sentences, once, in their order."""
    wrong = sorted(given.keys() - {"label", "format"})
    if wrong:
        msg = f"{flag(Parameter(wrong[0]))} cannot be used with --from: settings are the model's."
        raise UsageError(msg)
    tagger = FileTagger(Model.load(start))
    label, format_ = given.get("label"), given.get("format")
    files = [tagger.file(name, format_, **reading) for name in data]
    before = tagger.evaluation(files, label=label)
    for line in before.test_summary("the new sentences, before they are learned", None):
        screen.say(line)
    if tagger.model.calibration is not None:
        screen.warn("Probabilities were left out: they were fitted to other scores.")
    reading = reading | {"format_": format_}
    return tagger.learned(data, label=label, tell=screen.say, **reading)


def _show(
    screen: Screen,
    model: Model,
    tagger: FileTagger,
    path: str,
    test: tuple[str, TagEvaluation | None],
) -> None:
    training, tags = model.training, tagger.tags
    name, judged = test
    if judged is not None:
        for line in judged.test_summary(printable(name), None):
            screen.show(line)
    files = training["files"]
    source = printable(files[0]) if len(files) == 1 else counted(len(files), "file")
    listed = ", ".join(map(printable, tags.outer[:MOST_LISTED]))
    more = ", …" if len(tags.outer) > MOST_LISTED else ""
    screen.show(
        f"{source}: {counted(training['n_rows'], 'sentence')}, "
        f"{counted(training['n_tokens'], 'token')}, "
        f"{counted(tagger.encoding.n_features, 'feature')}."
    )
    screen.show(f"  {len(tags.outer)} tags: {listed}{more}")
    if tags.scheme:
        inside = " and learned as IOBES" if tags.reopened else ""
        own = "BIO" if tags.reopened else tags.scheme
        rule = "; illegal steps are impossible" if tags.strict else ""
        screen.show(f"  scheme: {own}{inside}{rule}")
    title = training["title"]
    last = model.history[-1] if model.history else None
    if last is not None:
        screen.show(
            f"{title[0].upper()}{title[1:]}: {counted(len(model.history), 'pass')}; in the last "
            f"one {last['mistakes']:,} sentences were wrong."
        )
    if model.calibration is not None:
        screen.show(
            f"Probabilities: fitted to {counted(model.calibration.n_rows, 'sentence')} that "
            f"another model scored, temperature {number(1 / model.calibration.slope)}."
        )
    if path == "-":
        screen.show("Model: standard output")
        return
    target = printable(path)
    screen.show(f"Model: {target} ({size_text(Path(path).stat().st_size)})")
    steps = {
        f"evaluate {target} TEST": "measure the error on new sentences",
        f"predict {target} NEW": "tag new sentences",
        f'explain {target} "A sentence ."': "show why a word has its tag",
    }
    lines = [f"rosenblatt {command}   {what}" for command, what in steps.items()]
    screen.show("\nNext: " + "\n      ".join(lines))
