"""The record of a model: its passes, how they ended, and what is known of the rows and files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from rosenblatt.data.sources import kept_names, places_digest
from rosenblatt.tasks.held_out_fits import TriedFacts
from rosenblatt.training.history import Outcome, PassRecord, StopReason

if TYPE_CHECKING:
    from rosenblatt.data.files import Files

Json = Any  # None, bool, int, float, str, and lists and dictionaries of them


class PassFacts(TypedDict):
    """The fields of a ``PassRecord``."""

    pass_: int
    mistakes: int
    updates: int
    loss: float
    validation_score: float | None
    seconds: float


class Ending(TypedDict, total=False):
    """How training ended."""

    stop_reason: StopReason
    best_pass: int  # the pass whose weights are kept
    n_iter: int  # passes
    n_mistakes: int  # in all of them
    n_learned: int  # rows learned from in each pass


class TrainingFacts(TriedFacts, total=False):
    """What a model says of its training; what does not apply is left out, or None."""

    label_type: str  # of NumPy, of the labels in memory
    # Files and how they were read
    files: list[str]
    places: str  # digest of where they are
    format: str
    title: Json  # of the learner: a text, or None where it learned from arrays before
    decisions: Json  # on columns; None for numbered features
    sentences: dict[str, Json]  # the columns of a line of a token
    read_as: list[list[str]]  # what is printed of these decisions: a word, and what was decided
    bad_rows: dict[str, Json]
    notes: list[str]  # on what was unusual
    # Rows
    n_rows: int
    n_tokens: int
    n_wrong: int  # by the last weights
    class_counts: list[int]
    float32_rows: int  # predicted as before by numbers of fewer bits
    began_with: list[str]  # files of the model that learning went on from
    began_with_rows: int
    progressive: list[dict[str, Json]]  # errors on rows before they were learned
    # What rows held out decided
    recipe: Json  # what the races tried, and which won; None where there was none
    codes: Json
    texts: Json
    parts: Json
    refit: bool  # on all rows
    refit_passes: int
    refit_converged: bool
    threshold: dict[str, Json]
    bias_moved: float  # the threshold that the bias was moved by
    guarantee_rows: int
    # What else goes on from it
    checkpoint: dict[str, Json]
    hashed_names: int  # bits of the hash
    n_shards: int
    pipeline: dict[str, Json]
    pruned: dict[str, int]
    tags: dict[str, Json]


Facts = TrainingFacts | TriedFacts
NOTHING_LEARNED = Outcome([], "max_iter", 0)
LASTING = {"label_type"}  # what stays true of a model that learns on
EARLIER: tuple[Literal["began_with"], Literal["files"]] = ("began_with", "files")


@dataclass
class Record:
    """How a model came to be. Only learning on changes it."""

    history: Sequence[PassFacts] = ()
    outcome: Ending = field(default_factory=Ending)
    training: TrainingFacts = field(default_factory=TrainingFacts)
    verdict: dict[str, Json] | None = None  # on whether the rows can be separated, with its proof

    @classmethod
    def of(cls, outcome: Outcome, training: TrainingFacts, *, counted: bool = False) -> "Record":
        """Return the record of a training; ``counted``: with how many rows were learned from."""
        ending: Ending = {
            "stop_reason": outcome.stop_reason,
            "best_pass": outcome.best_pass,
            "n_iter": len(outcome.history),
            "n_mistakes": sum(record.mistakes for record in outcome.history),
        }
        if counted:
            ending["n_learned"] = outcome.n_rows
        return cls(pass_facts(outcome.history), ending, training)

    @property
    def passes(self) -> list[PassRecord]:
        """What each pass did."""
        return [PassRecord(**facts) for facts in self.history]

    @property
    def of_arrays(self) -> bool:
        """Whether it says no more of the rows than the type of their labels."""
        return self.training.keys() == LASTING

    def with_facts(self, *facts: Facts) -> "Record":
        """Return a record that says this of its training as well."""
        return replace(self, training=facts_of(self.training, *facts))

    def copy(self) -> "Record":
        """Return a record of its own that learning may change."""
        return replace(self, outcome=self.outcome.copy())

    def forget_rows(self, label_type: str) -> None:
        """Say no more of the rows than the type of their labels."""
        self.training = {"label_type": label_type}
        self.outcome.pop("n_learned", None)

    def note(self, outcome: Outcome) -> None:
        """Tell of another training on rows of the same labels."""
        new = Record.of(outcome, self.training)
        self.history, self.outcome = new.history, new.outcome

    def count(self, n_passes: int, n_mistakes: int, *, moved: bool) -> None:
        """Count passes over more rows; of other weights there is no proof, and another ending."""
        self.outcome["n_iter"] += n_passes
        self.outcome["n_mistakes"] += n_mistakes
        if moved:
            self.outcome["stop_reason"] = "max_iter"  # one pass is what it is for
        self.verdict = None


def pass_facts(history: Sequence[PassRecord]) -> tuple[PassFacts, ...]:
    """Return what a model keeps of passes."""
    return tuple(cast("PassFacts", record._asdict()) for record in history)


def facts_of(*parts: Facts) -> TrainingFacts:
    """Return facts together, in this order; of one that comes twice the last holds."""
    found: dict[str, Json] = {}
    for part in parts:
        found |= part
    return cast("TrainingFacts", found)


def source_facts(names: Sequence[str], form: object) -> TrainingFacts:
    """Return what a model says of the names and the format of files that it learned from."""
    return {"files": kept_names(names), "places": places_digest(names), "format": str(form)}


def file_record(files: "Files", title: str | None, notes: Iterable[str]) -> TrainingFacts:
    """Return what a model says of files, and of how they were read."""
    decisions = files.decisions
    known: TrainingFacts = {
        "title": title,
        "decisions": None if decisions is None else decisions.as_json(),
        "read_as": [list(line) for line in files.decided()],
        "bad_rows": files.bad_rows.as_json(),
        "notes": list(notes),
    }
    return facts_of(source_facts(files.names, files.format), known)
