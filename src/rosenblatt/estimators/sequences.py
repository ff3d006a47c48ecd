"""The structured perceptron as an estimator: sentences in, tags for their tokens out."""

from collections.abc import Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path as FilePath
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rosenblatt.data.sequences.encoding import (
    NamedEncoding,
    SentenceEncoding,
    WordEncoding,
)
from rosenblatt.data.sequences.templates import read_templates, word_templates
from rosenblatt.errors import InputError, warn_caller
from rosenblatt.estimators.base import CLASSES
from rosenblatt.estimators.documentation import PARAMETERS, estimator_class
from rosenblatt.estimators.scikit import BaseEstimator
from rosenblatt.models.learner import SHARED, Learner
from rosenblatt.models.learner_record import plain_options
from rosenblatt.models.model import Model
from rosenblatt.models.sequences import SequenceModel, TokenTags
from rosenblatt.models.tagger import Path, Tagger
from rosenblatt.parameters import AT_LEAST_ONE, CHECKS, Check, check_parameters, one_of
from rosenblatt.rules import RULES, Interval
from rosenblatt.tasks.phrases import Phrase, count_phrases, phrases
from rosenblatt.tasks.sequences import Sequences
from rosenblatt.training.history import Observer, PassRecord, ProgressBar, StopReason

Sentences = Sequence[Sequence[Any]]  # of words, of lists of cells, or of dictionaries
WORDS = "words"
OWN_CHECKS: dict[str, Check | Interval] = {
    "templates": Check(
        "'words', a template file, or its text", lambda v: isinstance(v, str | PathLike)
    ),
    "transitions": one_of(["auto", "free"]),
    "min_count": AT_LEAST_ONE,
    "metric": one_of(["tokens", "sentences", "phrases"]),
}
SEQUENCE_PARAMETERS = PARAMETERS | {
    "rule": (
        "The rule of the steps; see ``rosenblatt.rules.RULES``. Rules that want a margin get the "
        "best path with a cost for each wrong token, so that their loss is the structured hinge."
    ),
    "parameters": (
        "The rule's own parameters by name, for example {'C': 0.1}; those that are missing have "
        "their defaults."
    ),
    "templates": (
        '"words": the word, its lower case, shape, affixes, case, digits and hyphen, two '
        "neighbours on either side, and two pairs of words. Or a template file of CRF++ or Wapiti, "
        "or its text. Dictionaries of features need none."
    ),
    "min_count": "Leave out features that come less often.",
    "transitions": (
        '"auto": where the tags are BIO, IOBES or BILOU, steps that the scheme forbids are '
        'impossible, and BIO is learned as IOBES. "free": any tag may follow any other.'
    ),
    "calibrate": (
        "Fit a temperature to sentences that another model scores, which has not learned from "
        "them, so that ``predict_marginals`` gives probabilities."
    ),
}
ATTRIBUTES = {
    "classes_": "Sorted tags.",
    "n_features_": "Number of features that have weights.",
    "n_iter_": "Passes made.",
    "best_iter_": "The pass whose weights are returned: the last, or the best with early stopping.",
    "n_mistakes_": "Wrong paths in all passes.",
    "history_": (
        "One record a pass: ``pass_``, ``mistakes`` (sentences), ``updates``, ``loss``, "
        "``validation_score`` (share of tokens), ``seconds``."
    ),
    "stop_reason_": '"converged", "max_iter", "early_stopping", "time_limit" or "interrupted".',
}


@estimator_class(SEQUENCE_PARAMETERS, ATTRIBUTES)
class SequencePerceptron(BaseEstimator):
    """The structured perceptron: a tag for each token of a sentence, by the best path of tags.

    A path scores the weights of its tokens' features and of its steps from tag to tag; the best
    one is found by Viterbi's algorithm. Where it is wrong, the weights of the true path gain what
    those of the wrong one lose::

        w ← w + τ·(φ(x, y) − φ(x, ŷ))

    with the step τ of any rule of the family, by default PA-I, and the average of all weights.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from rosenblatt import SequencePerceptron
    >>> X = [["I", "book", "a", "flight"], ["a", "book", "sells"], ["I", "sell", "flights"]]
    >>> y = [["PRON", "VERB", "DET", "NOUN"], ["DET", "NOUN", "VERB"], ["PRON", "VERB", "NOUN"]]
    >>> tagger = SequencePerceptron().fit(X, y)
    >>> tagger.predict([["I", "book", "a", "book"]])
    [['PRON', 'VERB', 'DET', 'NOUN']]

    References
    ----------
    M. Collins, "Discriminative training methods for hidden Markov models", EMNLP 2002.
    """

    rule: str = Sequences.rule
    parameters: Any = None
    memory: str = "average"
    max_iter: int = Sequences.passes_of_averages
    templates: str | PathLike[str] = WORDS
    min_count: int = 1
    transitions: str = "auto"
    calibrate: bool = False
    shuffle: Any = True
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    time_limit: float | None = None
    random_state: Any = 0
    verbose: bool | int = False
    observers: Sequence[Observer] | None = None

    def fit(self, X: Sentences, y: Sequence[Sequence[Any]]) -> Self:
        """Learn from sentences and their tags.

        Parameters
        ----------
        X : list of sentences
            A sentence is a list of words, of lists of words (columns, of which templates say what
            they look at), or of dictionaries of features.
        y : list of lists of tags
            "?" and None are tags that are not known: the best path that agrees with the others is
            learned.
        """
        learner, encoding = self._checked(), self._encoding(X)
        columns = encoding.columns(X)
        given = TokenTags.of_lists(y, [len(one) for one in X])
        observers = list(self.observers or ())
        with ExitStack() as stack:
            if self.verbose:
                observers.append(stack.enter_context(ProgressBar(self.max_iter)))
            self.sequence_model_ = SequenceModel.fit(
                *(learner, encoding, columns, given),
                min_count=self.min_count,
                free=self.transitions == "free",
                calibrate=self.calibrate,
                observers=observers,
            )
        for sentence in self.sequence_model_.told:
            warn_caller(sentence)
        return self

    def partial_fit(
        self, X: Sentences, y: Sequence[Sequence[Any]], classes: Sequence[str] | None = None
    ) -> Self:
        """Go on learning: one pass over these sentences, in the order given.

        New tags and features may appear at any call; ``classes`` are tags that are yet to come.
        """
        learner = self._checked()
        if self.calibrate or self.early_stopping:
            name = "calibrate" if self.calibrate else "early_stopping"
            raise InputError(f"partial_fit sees no held-out sentences: set {name}=False to use it.")
        given = TokenTags.of_lists(y, [len(one) for one in X])
        if not hasattr(self, "sequence_model_"):
            names = sorted({*given.names, *map(str, classes or ())})
            self.sequence_model_ = SequenceModel.begin(
                learner, self._encoding(X), names, free=self.transitions == "free"
            )
        model = self.sequence_model_
        model.learn_on(model.encoding.columns(X), given)
        return self

    def predict(
        self, X: Sentences, forced: Sequence[Sequence[str | None]] | None = None
    ) -> list[list[str]]:
        """Return the tags of each sentence, those of the best path.

        ``forced`` has a tag, or None, for each token: the best path that agrees is returned.
        """
        tagger, columns = self._answering(X)
        known = None if forced is None else tagger.tags.forced(forced, columns.bounds)
        return tagger.said(tagger.numbers(columns, known), columns.bounds)

    def predict_marginals(self, X: Sentences) -> list[NDArray[np.float64]]:
        """Return for each sentence the probability of each tag of each token."""
        tagger, columns = self._answering(X)
        return tagger.probabilities(columns, self.sequence_model_.beta)

    def predict_nbest(self, X: Sentences, n: int = 5) -> list[list[Path]]:
        """Return the n best paths of each sentence with their scores, the best first."""
        if not AT_LEAST_ONE.accepts(n):
            raise InputError(f"n must be {AT_LEAST_ONE.requirement}; got {n!r}.")
        tagger, columns = self._answering(X)
        return tagger.paths(columns, n)

    def predict_spans(self, X: Sentences) -> list[list[Phrase]]:
        """Return the phrases of each sentence: first token, the token behind it, and kind."""
        return [phrases(tags) for tags in self.predict(X)]

    def score(self, X: Sentences, y: Sequence[Sequence[Any]], metric: str = "tokens") -> float:
        """Return the share of tokens or sentences that are right, or the F1 of phrases.

        Tokens whose tag is not known do not count.
        """
        check_parameters(type(self).__name__, {"metric": metric}, OWN_CHECKS)
        said = self.predict(X)
        TokenTags.of_lists(y, [len(one) for one in X])
        if metric == "phrases":
            return count_phrases([[*map(str, tags)] for tags in y], said)[""].f1
        right = [
            [str(tag) == other for tag, other in zip(tags, own, strict=True) if tag not in _UNKNOWN]
            for tags, own in zip(y, said, strict=True)
        ]
        counted = [all(one) for one in right if one]
        if metric == "tokens":
            counted = [one for sentence in right for one in sentence]
        return sum(counted) / max(len(counted), 1)

    @property
    def classes_(self) -> NDArray[Any]:
        """Sorted tags."""
        return np.array(self._checked_model.tags.outer)

    @property
    def n_features_(self) -> int:
        """Number of features that have weights."""
        return self._checked_model.encoding.n_features

    @property
    def history_(self) -> list[PassRecord]:
        """One record a pass."""
        return self._checked_model.outcome.history

    @property
    def n_iter_(self) -> int:
        """Passes made."""
        return len(self.history_)

    @property
    def best_iter_(self) -> int:
        """The pass whose weights are returned."""
        return self._checked_model.outcome.best_pass

    @property
    def n_mistakes_(self) -> int:
        """Wrong paths in all passes."""
        return sum(record.mistakes for record in self.history_)

    @property
    def stop_reason_(self) -> StopReason:
        """Why the training ended."""
        return self._checked_model.outcome.stop_reason

    @property
    def model_(self) -> Model:
        """The fitted ``Model``: what ``rosenblatt.save`` writes."""
        return self._checked_model.as_model(plain_options(self.get_params(deep=False)))

    def save(self, path: "str | PathLike[str]") -> None:
        """Write a model file, whole or not at all."""
        self.model_.save(FilePath(path))

    @classmethod
    def of_model(cls, model: Model) -> "SequencePerceptron":
        """Return the estimator of a model, fitted as it was."""
        estimator = cls(**model.made_by.parameters())
        estimator.sequence_model_ = SequenceModel.of_model(model)
        return estimator

    @property
    def _checked_model(self) -> SequenceModel:
        check_is_fitted(self, "sequence_model_")
        return self.sequence_model_

    def _answering(self, X: Sentences) -> tuple[Tagger, Any]:
        """Return what answers, and sentences as it reads them."""
        fitted = self._checked_model
        _check_sentences(X)
        return fitted.tagger, fitted.encoding.columns(X)

    def _checked(self) -> Learner:
        """Return the learner that the parameters describe."""
        values = self.get_params(deep=False)
        named = {**values, "parameters": dict(self.parameters or {})}
        check_parameters(type(self).__name__, named, CHECKS | OWN_CHECKS)
        return Learner(
            self.rule,
            self.memory,
            {p.name: named["parameters"].get(p.name) for p in RULES[self.rule].parameters}
            | named["parameters"],
            max_iter=self.max_iter,
            fit_intercept=False,
            task=Sequences.name,
            **{name: values[name] for name in SHARED if name in values},
        )

    def _encoding(self, X: Sentences) -> SentenceEncoding:
        """Return the encoding of such sentences, before the first one."""
        _check_sentences(X)
        first = next((token for sentence in X for token in sentence), "")
        if isinstance(first, dict):
            return NamedEncoding()
        n_columns = len(first) if isinstance(first, (list, tuple)) else 1
        if self.templates == WORDS:
            return WordEncoding.empty(word_templates(), n_columns)
        return WordEncoding.empty(templates_of(self.templates), n_columns)


CLASSES[SequencePerceptron.__name__] = SequencePerceptron
_UNKNOWN = (None, "?")


def _check_sentences(X: Sentences) -> None:
    """Raise InputError where X is not a list of lists."""
    if isinstance(X, str) or any(isinstance(sentence, (str, dict)) for sentence in X):
        raise InputError(
            "X must be a list of sentences, each a list of words, of lists of words or of "
            "dictionaries; for one sentence give [words]."
        )


def templates_of(given: Any) -> Any:
    """Return the templates of a file, or of the text of one."""
    text, name = str(given), "templates"
    if "%x[" not in text and "\n" not in text:
        name = text
        try:
            text = FilePath(text).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{name} cannot be read: {error}") from error
    return read_templates(text, name)
