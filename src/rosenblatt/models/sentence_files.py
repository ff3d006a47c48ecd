"""Models of sequences and files of sentences: learns from them, tags them, is judged by them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.formats import SentenceFormat
from rosenblatt.data.sequences.encoding import WordEncoding
from rosenblatt.data.sequences.files import (
    SentenceBlock,
    SentenceFile,
    distinct,
    joined,
)
from rosenblatt.data.sequences.templates import Template, read_templates, word_templates
from rosenblatt.data.sequences.words import TokenColumns
from rosenblatt.data.sources import expand, kept_names
from rosenblatt.errors import InputError, Parameter
from rosenblatt.models.learner import SHARED, Learner
from rosenblatt.models.learner_record import plain_options
from rosenblatt.models.model import Model
from rosenblatt.models.record import TrainingFacts, facts_of, source_facts
from rosenblatt.models.sequences import SequenceModel, TokenTags
from rosenblatt.models.tagger import UNKNOWN, Tagger, Tags
from rosenblatt.rules import rule_parameters
from rosenblatt.tasks.sequences import Sequences
from rosenblatt.tasks.tag_evaluation import TagEvaluation
from rosenblatt.training.history import Observer
from rosenblatt.wording import counted


@dataclass(frozen=True)
class TokenLine:
    """Which cells of a token are its tag, and which its words."""

    width: int  # cells of a token in training
    label: int  # the place of its tag
    format: str = SentenceFormat.CONLL

    def words_of(self, width: int, label: int | None = None) -> list[int]:
        """Return the places of cells beside the tag in a file with so many."""
        own = self.label if label is None and width == self.width else label
        return [place for place in range(width) if place != own]


def sentence_files(
    paths: Sequence[str], format_: str | None = None, **encoding: Any
) -> list[SentenceFile]:
    """Return files of sentences by their paths."""
    return [SentenceFile.of(name, format_, **encoding) for name in expand(paths)]


def read_all(files: Sequence[SentenceFile]) -> SentenceBlock:
    """Return all sentences of files, whose tokens have equally many cells."""
    blocks: list[SentenceBlock] = []
    for file in files:
        # without their lines, which take as much memory as all their cells
        own = [block._replace(lines=[]) for block in file.blocks() if block.n_sentences]
        blocks += own
        if not own:
            raise InputError(f"{file.name} has no sentence.")
        first = files[0]
        if file.width != first.width:
            raise InputError(
                f"{file.name} has {counted(file.width or 0, 'column')}, and {first.name} "
                f"{first.width}."
            )
    return joined(blocks)


def train_sentences(
    paths: Sequence[str],
    *,
    label: str | None = None,
    template: str | None = None,
    min_count: int = 1,
    transitions: str = "auto",
    calibrate: bool = False,
    observers: Sequence[Observer] = (),
    format: str | None = None,  # noqa: A002  # as a user says it
    encoding: Mapping[str, Any] | None = None,
    **learning: Any,
) -> Model:
    """Return the model of files of sentences, by what is given; the rest is the usual."""
    files = sentence_files(paths, format, **(encoding or {}))
    block = read_all(files)
    line = token_line(files[0], label)
    columns, given = words_and_tags(files[0], block, line)
    templates = word_templates() if template is None else template_file(template)
    learner = learner_of(**learning)
    start = WordEncoding.empty(templates, len(line.words_of(line.width)))
    free = transitions == "free"
    how: dict[str, Any] = {"min_count": min_count, "calibrate": calibrate}
    chosen = columns.take(start.layout.columns)
    model = SequenceModel.fit(
        *(learner, start, chosen, given), free=free, observers=observers, **how
    )
    model.training = facts_of(
        model.training,
        {"sentences": asdict(line)},
        source_facts([file.name for file in files], files[0].format),
        {"title": learner.title, "notes": list(model.told)},
    )
    text = "words" if template is None else template_text(template)
    named = {"transitions": transitions, "templates": text, **how}
    return model.as_model(plain_options(options_of(learner) | named))


def template_text(path: str) -> str:
    """Return the text of a file of templates."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from error


def template_file(path: str) -> tuple[Template, ...]:
    """Return the templates of a file."""
    return read_templates(template_text(path), path)


def learner_of(**given: Any) -> Learner:
    """Return a learner of tags with these parameters; the rest are the usual ones."""
    values = {name: given.pop(name) for name in rule_parameters() if name in given}
    known = {name: value for name, value in given.items() if value is not None}
    usual = {"rule": Sequences.rule, "memory": "average"} if "rule" not in known else {}
    return Learner(values=values, fit_intercept=False, task=Sequences.name, **{**usual, **known})


def options_of(learner: Learner) -> dict[str, Any]:
    """Return the parameters of the estimator that describe a learner."""
    own = {"rule": learner.rule, "memory": learner.memory, "parameters": learner.chosen or None}
    shared = {name: getattr(learner, name) for name in SHARED if name not in NOT_OURS}
    return own | shared | {"max_iter": learner.passes}


NOT_OURS = ("zero", "fit_intercept")


def token_line(file: SentenceFile, label: str | None) -> TokenLine:
    """Return what the cells of a file's tokens are; the tag stands in the last, or as named."""
    width = (file.width or 1) - (file.format is SentenceFormat.CONLLU)
    place = file.usual_label if label is None else file.column(label)
    if width < 2 and file.format is not SentenceFormat.JSON_LINES:
        raise InputError(f"{file.name} has one column: no tag stands beside the words.")
    if width < 2:
        raise InputError(f"{file.name} has no list of tags beside the words.")
    return TokenLine(width, place, str(file.format))


def words_and_tags(
    file: SentenceFile, block: SentenceBlock, line: TokenLine
) -> tuple[TokenColumns, TokenTags]:
    """Return the columns beside the tag, and the tags."""
    words = block.columns.take(line.words_of(line.width, line.label))
    names, numbers = distinct(block.columns.cells(line.label))
    if file.format is SentenceFormat.CONLLU:
        names = [UNKNOWN if name == "_" else name for name in names]
    return words, TokenTags.of_names(names, numbers)


class FileTagger:
    """A model that tags the sentences of files."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.fitted = SequenceModel.of_model(model)
        if not isinstance(self.fitted.encoding, WordEncoding):
            raise InputError(
                "The model was trained on dictionaries of features, which files of sentences do "
                "not have; use it from Python."
            )
        self.encoding = self.fitted.encoding
        width = self.encoding.n_columns + 1
        usual = {"width": width, "label": width - 1}
        self.line = TokenLine(**model.training.get("sentences", usual))

    @property
    def tagger(self) -> Tagger:
        """What answers."""
        return self.fitted.tagger

    @property
    def tags(self) -> Tags:
        """The tags that it gives."""
        return self.fitted.tags

    def file(
        self, source: str, format_: str | None = None, *, prompt: bool = False, **encoding: Any
    ) -> SentenceFile:
        """Return a file to tag; what does not tell its format has a sentence of words a line."""
        needed = max(self.encoding.layout.columns, default=0) + 1
        usual = SentenceFormat.WORDS if needed == 1 else SentenceFormat.CONLL
        file = SentenceFile.of(source, format_, usual=usual, prompt=prompt, **encoding)
        if format_ is None and file.format is SentenceFormat.WORDS:
            return file.of_words_or_tokens()
        return file

    def label_of(self, file: SentenceFile, label: str | None) -> int | None:
        """Return where a file has tags, once a block of it was read; None where it has none."""
        if label is not None:
            return file.column(label)
        if file.format is SentenceFormat.CONLLU:
            named = self.line.format == SentenceFormat.CONLLU
            return self.line.label if named else file.usual_label
        if file.format is not SentenceFormat.CONLL:
            return 1 if (file.width or 1) > 1 else None
        return self.line.label if file.width == self.line.width else None

    def columns(self, file: SentenceFile, block: SentenceBlock, label: int | None) -> TokenColumns:
        """Return the words of sentences as templates look at them."""
        places = [place for place in range(block.n_columns) if place != label]
        needed = max(self.encoding.layout.columns, default=0)
        if needed >= len(places):
            raise InputError(
                f"{file.name} has {counted(len(places), 'column')} beside tags, and the templates "
                f"of the model look at {needed + 1}."
            )
        return block.columns.take([places[c] for c in self.encoding.layout.columns])

    def forced(self, file: SentenceFile, block: SentenceBlock, named: str) -> Any:
        """Return the tags that a column demands; "?" and "_" demand none."""
        cells = block.columns.cells(file.column(named))
        wanted = [None if cell in (UNKNOWN, "_") else cell for cell in cells]
        return self.tagger.tags.forced(block.columns.in_sentences(wanted), block.columns.bounds)

    def tagged(
        self, file: SentenceFile, *, label: str | None = None, force: str | None = None
    ) -> Iterator[tuple[SentenceBlock, TokenColumns, list[str]]]:
        """Yield sentences in blocks, with the tag of each token."""
        said = np.array(self.tagger.tags.said, object)
        for block in file.blocks():
            if not block.n_sentences:
                yield block, block.columns, []
                continue
            own = self.label_of(file, label)
            columns = self.columns(file, block, own)
            wanted = None if force is None else self.forced(file, block, force)
            yield block, columns, said[self.tagger.numbers(columns, wanted)].tolist()

    def evaluation(
        self, files: Sequence[SentenceFile], *, label: str | None = None
    ) -> TagEvaluation:
        """Return how good its tags are on files that have them."""
        found = TagEvaluation(self.tagger.tags.outer)
        beta = None if self.fitted.calibration is None else self.fitted.beta
        for file in files:
            for block, columns, tags in self.tagged(file, label=label):
                if not tags:
                    continue
                truth = self.truth(file, block, label)
                known = np.isin(self.encoding.marks(columns), self.fitted.vocabulary)
                sentences = block.columns.in_sentences(truth), block.columns.in_sentences(tags)
                found.add_sentences(*sentences, known if len(self.fitted.vocabulary) else None)
                if beta is not None:
                    shares = self.tagger.probabilities(columns, beta)
                    found.add_probabilities(np.concatenate(shares), truth)
        return found

    def truth(self, file: SentenceFile, block: SentenceBlock, label: str | None) -> list[str]:
        """Return the tags that stand in a file; raise InputError where none do."""
        own = self.label_of(file, label)
        if own is None:
            raise InputError(
                f"{file.name} has {counted(file.width or 0, 'column')}, and the model learned from "
                f"{self.line.width}: name that of the tags with {Parameter('label')}."
            )
        tags = block.columns.cells(own)
        if file.format is SentenceFormat.CONLLU:
            return [UNKNOWN if tag == "_" else tag for tag in tags]
        return tags

    def confidence(self, columns: TokenColumns, tags: Sequence[str]) -> list[float]:
        """Return how probable the tag of each token is."""
        places = self.tagger.tags.places
        shares = self.tagger.probabilities(columns, self.fitted.beta)
        numbers = [places[tag] for tag in tags]
        rows = np.concatenate(shares) if shares else np.empty((0, len(places)))
        found: NDArray[Any] = rows[np.arange(len(numbers)), numbers]
        return [float(share) for share in found]

    def learned(
        self,
        paths: Sequence[str],
        *,
        label: str | None = None,
        tell: Callable[[str], object] | None = None,
        **reading: Any,
    ) -> Model:
        """Return the model that has gone on: one pass over files, in their order."""
        files = sentence_files(paths, **reading)
        block = read_all(files)
        line = self.line
        if label is not None or files[0].width != line.width:
            line = token_line(files[0], label)
        words, given = words_and_tags(files[0], block, line)
        if max(self.encoding.layout.columns, default=0) >= len(words.starts):
            self.columns(files[0], block, line.label)
        new = sorted({*given.names} - {*self.tagger.tags.outer})
        if new and tell is not None:
            tell(f"New tags: {', '.join(new)}.")
        self.fitted.learn_on(words.take(self.encoding.layout.columns), given)
        record = self.fitted.training
        names = [*record.get("files", []), *kept_names([file.name for file in files])]
        counts: TrainingFacts = {
            "files": names,
            "n_rows": record.get("n_rows", 0) + block.n_sentences,
            "n_tokens": record.get("n_tokens", 0) + block.columns.n_tokens,
        }
        learned = replace(self.fitted, training=record | counts)
        return replace(learned.as_model(self.model.options), calibration=None)
