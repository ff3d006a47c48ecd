"""The report on a model of sequences: words and tables, as one HTML page or a card in Markdown."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from rosenblatt.data.sequences.files import SentenceFile
from rosenblatt.models.sentence_files import FileTagger
from rosenblatt.models.tag_explanation import tag_weights
from rosenblatt.report.card import escaped, markdown_table
from rosenblatt.report.markup import file_names, table, templates
from rosenblatt.report.tables import confusion_list
from rosenblatt.tasks.evaluation import TableParts
from rosenblatt.tasks.tag_evaluation import TagEvaluation
from rosenblatt.training.history import REASONS
from rosenblatt.version import __version__
from rosenblatt.wording import Cell, counted, number, percent, word_list

MOST_CONFUSIONS = 20
IN_LINE = 8  # names of features
HARDEST = 20  # sentences


class ReportPart(NamedTuple):
    """A section of the report."""

    title: str
    lines: list[str]
    tables: list[TableParts]


class HardSentence(NamedTuple):
    """A sentence with wrong tags, and by how much its best path was ahead of the true one."""

    place: str
    words: list[str]
    truth: list[str]
    said: list[str]
    ahead: float


def tag_report(
    tagger: FileTagger, name: str, files: Sequence[SentenceFile], path: str
) -> tuple[str, TagEvaluation | None]:
    """Return the report as its file name wants it, and how good the model is on test files."""
    judged = tagger.evaluation(files) if files else None
    parts = [one for one in _parts(tagger, judged, files) if one.lines or one.tables]
    if path.endswith(".md"):
        return _card(name, parts), judged
    tables = [[table(*parts_) for parts_ in one.tables] for one in parts]
    template = templates().get_template("tags.html")
    day = datetime.now(UTC).date().isoformat()
    facts = {"name": name, "day": day, "version": __version__}
    return template.render(parts=[*zip(parts, tables, strict=True)], **facts), judged


def _card(name: str, parts: Sequence[ReportPart]) -> str:
    text = f"# {escaped(name)}\n"
    for part in parts:
        body = [*map(escaped, part.lines), *filter(None, map(markdown_table, part.tables))]
        text += f"\n## {part.title}\n\n" + "\n\n".join(body) + "\n"
    return f"{text}\nWritten by rosenblatt {__version__}.\n"


def _parts(
    tagger: FileTagger, judged: TagEvaluation | None, files: Sequence[SentenceFile]
) -> Iterator[ReportPart]:
    model, tags, training = tagger.model, tagger.tags, tagger.model.training
    listed = word_list(tags.outer, 40)
    lines = [f"Gives each token of a sentence one of {counted(len(tags.outer), 'tag')}: {listed}."]
    if tags.scheme:
        lines.append(f"Scheme: {tags.scheme}{', given back as BIO' if tags.reopened else ''}.")
    yield ReportPart("Summary", lines, [])
    if judged is not None:
        lines = [*judged.summary(None), *judged.warnings(None)]
        if judged.reliability is not None and judged.reliability.n_rows:
            error = percent(judged.reliability.calibration_error)
            lines.append(f"Probabilities and true shares differ by {error} on average.")
        phrases = judged.phrase_table()
        tables = [] if phrases is None else [phrases]
        tables += [judged.table()]
        if judged.confusions:
            headings, rows, title = confusion_list(judged, MOST_CONFUSIONS)
            tables.append((("tag", headings[1], "tokens", "of the tag"), rows, title))
        yield ReportPart("Test", lines, tables)
        hard = sorted(_hardest(tagger, files), key=lambda one: -one.ahead)[:HARDEST]
        rows = [[one.place, _marked(one), number(one.ahead)] for one in hard]
        title = "Wrong paths that were furthest ahead of the true ones: word/true→said"
        yield ReportPart("Hardest sentences", [], [(("place", "sentence", "ahead"), rows, title)])
    yield ReportPart("Data", [_data(tagger)], [])
    course: list[list[Cell]] = [
        [str(r["pass_"]), r["mistakes"], percent(r.get("validation_score"))] for r in model.history
    ]
    reason = REASONS.get(model.outcome.get("stop_reason", "max_iter"), "")
    lines = [f"{training.get('title', model.learner)}. It ended because {reason}."]
    title = "Wrong sentences of each pass"
    headings = ("pass", "wrong sentences", "held-out tokens right")
    yield ReportPart("Training", lines, [(headings, course, title)])
    rows = []
    for k, tag in enumerate(tags.inner):
        weights = tag_weights(tagger.tagger, k)
        ends = weights[:IN_LINE], weights[: -IN_LINE - 1 : -1]
        rows.append([tag, *(", ".join(one.name for one in side) for side in ends)])
    yield ReportPart("Weights", [], [(("tag", "speaks for it", "speaks against it"), rows, "")])
    options = [f"{k}={v!r}" for k, v in model.options.items() if v is not None and k != "templates"]
    yield ReportPart("Parameters", [f"{model.learner}({', '.join(options)})"], [])


def _data(tagger: FileTagger) -> str:
    training, features = tagger.model.training, tagger.encoding.n_features
    files = f" Files: {file_names(training['files'])}." if "files" in training else ""
    return (
        f"{counted(training.get('n_rows', 0), 'sentence')}, "
        f"{counted(training.get('n_tokens', 0), 'token')}, {counted(features, 'feature')}.{files}"
    )


def _hardest(tagger: FileTagger, files: Sequence[SentenceFile]) -> Iterator[HardSentence]:
    """Yield the sentences of files whose best path is wrong, where the true one is possible."""
    own, places = tagger.tagger, tagger.tags.places
    for file in files:
        for block, columns, tags in tagger.tagged(file):
            if not tags:
                continue
            truth = tagger.truth(file, block, None)
            forced = np.array([places.get(tag, -1) for tag in truth], np.int32)
            other, best = own.numbers(columns, forced), own.numbers(columns)
            scores = own.emissions(columns)
            bounds = block.columns.bounds.tolist()
            words = block.columns.in_sentences(block.columns.cells(0))
            said, true = (block.columns.in_sentences(side) for side in (tags, truth))
            for i, emissions in enumerate(scores):
                here = slice(bounds[i], bounds[i + 1])
                if said[i] == true[i] or (forced[here] < 0).any():
                    continue
                ahead = own.score(best[here], emissions) - own.score(other[here], emissions)
                place = f"{PurePath(file.name).name}:{block.line_of(bounds[i])}"
                yield HardSentence(place, words[i], true[i], said[i], ahead)


def _marked(one: HardSentence) -> str:
    """Return a sentence with the tags of wrong words."""
    return " ".join(
        word if true == said else f"{word}/{true}→{said}"
        for word, true, said in zip(one.words, one.truth, one.said, strict=True)
    )
