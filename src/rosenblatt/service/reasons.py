"""Why an answer is what it is: the features that it is a sum of, and the examples."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.kernels.counts import Log, empty_log
from rosenblatt.kernels.shapes import entries
from rosenblatt.mistakes.provenance import Provenance, provenance_of
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.models.explanation import Contribution, contributions
from rosenblatt.models.feature_spaces import FeatureSpace, NamedFeatures
from rosenblatt.models.learner_record import LearnerRecord
from rosenblatt.models.model import Model
from rosenblatt.models.tag_explanation import explained_tag, least_sure, rival_paths
from rosenblatt.models.weights import Weights
from rosenblatt.rules import pair_scale
from rosenblatt.service import history, requests
from rosenblatt.service.journal import Event
from rosenblatt.service.learner import Served, ServedLearner
from rosenblatt.service.limits import RequestError
from rosenblatt.service.tagger import ServedTagger
from rosenblatt.service.writer import Entry, Writer

NO_SUM = (
    "The weights of {} are not the sum of its examples: none can be named. See its features "
    "(explain)."
)
Teacher = tuple[float, Event]  # an example, and what it adds to the score


def joined(terms: Sequence[Contribution], space: FeatureSpace) -> list[Contribution]:
    """Return one term for all that say the same of a row, by the name that says it most closely."""
    groups: dict[Any, list[tuple[int, Contribution]]] = {}
    for term in terms:
        part, closeness = space.part_of(term.feature)
        groups.setdefault(part, []).append((closeness, term))
    found = []
    for group in groups.values():
        _, closest = max(group, key=lambda one: one[0])
        if len(group) > 1:
            amount = math.fsum(term.amount for _, term in group)
            closest = closest._replace(value=1.0, weight=amount, amount=amount, uncertainty=None)
        found.append(closest)
    return sorted(found, key=lambda term: -abs(term.amount))


class RowQuestion:
    """Why a row has its class, or one of its labels."""

    def __init__(self, served: Any, asked: requests.ExplainRequest) -> None:
        self._features: Any = asked.features
        if served.undecided:
            few = served.task.too_few
            raise RequestError(409, f"The model knows {few}; there is nothing to explain yet.")
        if asked.token is not None:
            raise RequestError(422, "token is of a sentence; this model is asked for whole rows.")
        self._served = served
        self.label, scores = served.decided(self._features)
        wanted = None if asked.label is None else served.known(requests.label_of(asked.label))
        shown = served.task.label_shown(self.label, scores, served.classes, wanted)
        if shown not in served.classes:
            raise RequestError(422, f"The model has no label {asked.label!r:.80}.")
        self._rows: Any
        self._number, self._rows = served.classes.index(shown), served.rows([self._features])
        # No journal has the steps of labels: they are made once more
        self.made_again = served.weights.log is None

    def explanation(self, top: int, version: int) -> requests.ExplanationAnswer:
        """Return the features that the score is a sum of."""
        served, features = self._served, self._features
        intercept = {"fit_intercept": served.learner.fit_intercept}
        model = Model(  # the weights to look at, not copied
            LearnerRecord.of(served.learner, options=intercept),
            tuple(served.classes),
            Weights(served.state),
        )
        found = contributions(model, *entries(self._rows, 0), winner=self._number)
        found = found._replace(terms=joined(found.terms, served.space))
        name, unknown = served.space.name, 0
        if isinstance(served.space, NamedFeatures) and isinstance(features, Mapping):
            unknown = len(served.space.plain(features)) - len(self._rows.indices)
        return requests.ExplanationAnswer.from_record(
            found,
            label=self.label,
            terms=[
                requests.FeatureAmount.from_record(term, name=name(term.feature))
                for term in found.terms[:top]
            ],
            others=max(0, len(found.terms) - top),
            unknown=unknown,
            version=version,
        )

    def score(self) -> Provenance:
        """Return the score without any example, and the classes that it is of."""
        served = self._served
        if served.weights.moments is not None:
            raise RequestError(422, NO_SUM.format("a model that scales"))
        at, values = entries(self._rows, 0)
        self._x = np.zeros(served.state.n_features)
        self._x[at] = values
        self._scores = served.scores([self._features])[0]
        return self._provenance([], empty_log(0))

    def teachers(self, events: Sequence[Event], again: ServedLearner | None) -> list[Teacher]:
        """Return what examples add to the score; ``again`` is made once more of those before."""
        batch = [history.example_of(event) for event in events]
        if again is None:
            log = _steps(self._served, events)
        else:
            log = again.fold(batch, self._served.classes[self._number])
        terms = self._provenance([one for one, _ in batch], log).terms
        return [(term.amount, events[term.row]) for term in terms]

    def _provenance(self, taught: Sequence[Any], log: Log) -> Provenance:
        """Return what these examples add by their steps to the score of the row."""
        served, state = self._served, self._served.state
        classes, scores, winner = served.task.opponents(served.classes, self._scores, self._number)
        return provenance_of(
            Mistakes(log, state.count),
            served.rows(taught),
            self._x,
            classes,
            averaged=state.ledger is not None,
            activation=scores,
            sides=(winner,),
        )


class TagQuestion:
    """Why a token of a sentence has its tag: the lead over the best path with another one there."""

    made_again = True  # the journal has no paths

    def __init__(self, served: ServedTagger, asked: requests.ExplainRequest) -> None:
        against, n, token = asked.label, len(asked.features), asked.token
        if len(served.classes) < 2:
            few = "fewer than 2 tags; there is nothing to explain yet"
            raise RequestError(409, f"The model knows {few}.")
        if not n or (token is not None and token >= n):
            raise RequestError(422, f"token must be below {n}, the number of tokens; got {token}.")
        if against is not None and not isinstance(against, str):
            raise RequestError(422, f"The model has no tag {against!r:.80}.")
        self._served, self._met = served, served.read([asked.features])
        self._tagger = served.tagger.tagger(self._met)
        columns = self._met.columns
        self.token = least_sure(self._tagger, columns) if token is None else token
        self._found = explained_tag(self._tagger, columns, self.token, against)
        self.label, self.rival = tuple(self._found.path), tuple(self._found.rival_path)

    def explanation(self, top: int, version: int) -> requests.ExplanationAnswer:
        """Return the features and steps that the lead is a sum of."""
        terms = self._found.terms
        return requests.ExplanationAnswer.from_record(
            self,
            **self.score()._asdict(),
            bias=0.0,
            terms=[
                requests.FeatureAmount.from_record(term, weight=term.amount / term.value)
                for term in terms[:top]
            ],
            others=max(0, len(terms) - top),
            unknown=int(np.count_nonzero(self._met.numbers < 0)),
            version=version,
        )

    def score(self) -> "TagScore":
        """Return the lead, and the tags that it is of."""
        return TagScore(self._found.tag, self._found.rival, self._found.lead)

    def teachers(self, events: Sequence[Event], again: ServedTagger) -> list[Teacher]:
        """Return what sentences add to the lead; ``again`` is made once more of those before."""
        rivals = rival_paths(self._tagger, self._met.columns, self.token, self._found.rival)
        asked = self._served.tagger.difference(self._met, rivals.path, rivals.other)
        averaged, count = self._served.state.ledger is not None, self._served.state.count
        found = []
        for event in events:
            seen = again.state.count
            taught = again.taught(*history.example_of(event))
            if taught.counts.updates:
                share = (count - seen) / count if averaged else 1.0
                found.append((taught.step * share * asked.dot(taught.difference), event))
        return [(amount, event) for amount, event in found if amount]


class TagScore(NamedTuple):
    """By how much the best path leads over the best one that has another tag at a token."""

    positive: str
    negative: str
    total: float


def question_of(served: Served, asked: requests.ExplainRequest) -> RowQuestion | TagQuestion:
    """Return what is asked of a model."""
    if isinstance(served, ServedTagger):
        return TagQuestion(served, asked)
    return RowQuestion(served, asked)


def why_answer(writer: Writer, entry: Entry, asked: requests.ExplainRequest) -> requests.WhyAnswer:
    """Return the examples that taught the model its score, as the sum that it is."""
    model = entry.record.model
    with writer.journal.reader() as reader:
        head, record = reader.head(model), history.current(reader, entry.record)
        taught = bool(reader.latest_counted(model, 1))
        served = entry.shown.learner
        if taught:  # else the model is as it began, and need not be made once more
            served = history.at_version(reader, writer.snapshots, record, head, writer.limits)
        if served.learner.second_order:
            raise RequestError(422, NO_SUM.format(f"the rule {served.learner.rule}"))
        question: Any = question_of(served, asked)
        found = question.score()
        _, file = reader.base(model, 0)
        again, stepped = None, "rival IS NOT NULL"
        if taught and question.made_again:
            again = history.new_learner(history.spec_from(record.spec), writer.limits, file)
            stepped = "1"
        teachers: list[Teacher] = []
        for events in history.in_parts(reader.counted(model, where=stepped)):
            teachers += question.teachers(events, again)
    teachers.sort(key=lambda pair: (-abs(pair[0]), pair[1].sequence))
    # What was there before the first example: nothing, or a model
    amounts = [-amount for amount, _ in teachers]
    return requests.WhyAnswer.from_record(
        question,
        positive=found.positive,
        negative=found.negative,
        total=found.total,
        start=0.0 if file is None else math.fsum([found.total, *amounts]),
        teachers=[_teacher(amount, event) for amount, event in teachers[: asked.top]],
        others=max(0, len(teachers) - asked.top),
        version=head,
    )


def _teacher(amount: float, event: Event) -> requests.TeachingExample:
    features, label = history.example_of(event)
    return requests.TeachingExample.from_record(
        event, amount=amount, features=features, label=label
    )


def _steps(served: ServedLearner, events: Sequence[Event]) -> Log:
    """Return the steps that the journal has of examples, each of which made one."""
    n_classes = len(served.classes)
    scale = pair_scale(served.learner.step) if n_classes > 2 else 1.0
    log = empty_log(len(events))
    for i, event in enumerate(events):
        sides = map(history.label_from, (event.label, event.rival))
        label, rival = map(served.classes.index, sides)
        log.label[i], log.rival[i] = (label, rival) if n_classes > 2 else (2 * label - 1, 0)
        log.tau[i] = (event.step or 0.0) * (scale if event.classes == 2 else 1.0)
        log.seen[i] = event.seen or 0
    log.row[:] = np.arange(len(events))
    return log
