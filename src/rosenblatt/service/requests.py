"""What is sent and answered, as types that check the requests and describe them to others.

Decoding refuses what is not of the type: a word for a number, NaN, infinity, an unknown field.
"""

from typing import Annotated, Any, Literal, Self

from msgspec import UNSET, Meta, Struct, UnsetType

from rosenblatt.rules import RULES

NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"  # of models and tokens

Label = str | int | float | bool
# One, or any number of them; of a sentence a tag for each token, null where it is not known
Labels = Label | tuple[Label | None, ...]
Item = float | str | bool | None
# A list is a vector, or several categories; an object has columns such as user.age.
Value = Item | list[Item] | dict[str, Any]
# Of a sentence a list of tokens: words, lists of the cells of columns, or objects of features.
Features = dict[str, Value] | list[float | str | list[str] | dict[str, Value]]
Name = Annotated[str, Meta(pattern=NAME, description="Letters, digits, dots, dashes; at most 64.")]
Sequence_ = Annotated[int, Meta(ge=0)]
Version = Annotated[int, Meta(ge=0, description="Number of the last event that is counted.")]
Id = Annotated[str, Meta(min_length=1, description="Chosen by the client; unique in the model.")]
RULE_TABLE = {  # what a form that creates a model must know
    name: {
        "title": entry.title,
        "parameters": {
            one.name: {"default": one.default, "meaning": one.meaning} for one in entry.parameters
        },
    }
    for name, entry in RULES.items()
}


class Request(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A body that a client sends."""


class Answer(Struct, kw_only=True, omit_defaults=False):
    """A body that the service sends."""

    @classmethod
    def from_record(cls, record: Any, **fields: Any) -> Self:
        """Return an answer with these fields; the others are those of a record, or the default."""
        names = [name for name in cls.__struct_fields__ if name not in fields]
        own = {name: getattr(record, name) for name in names if hasattr(record, name)}
        return cls(**own, **fields)


class FeatureSpec(Request, frozen=True):
    """How the features of a new model come."""

    kind: Literal["", "names", "hashed", "array"] = ""  # names, or as the file has
    limit: Annotated[int, Meta(ge=1, description="Different names at most.")] | None = None
    when_full: Literal["refuse", "ignore"] = "refuse"
    bits: Annotated[int, Meta(ge=1, le=30, description="Of the hash.")] = 18
    n_features: Annotated[int, Meta(ge=0, description="0: as the first array has.")] = 0
    templates: Annotated[str, Meta(description="Of words of sentences, as CRF++ has them.")] = ""


class ModelSpec(Request, frozen=True):
    """A model to create: a rule, a memory and their parameters, or a model file to go on from."""

    rule: Annotated[str, Meta(extra_json_schema={"x-rules": RULE_TABLE})] = "perceptron"
    memory: Literal["", "last", "average"] = ""
    parameters: dict[str, float] = {}
    zero: Literal["mistake", "negative", "positive"] = "mistake"
    fit_intercept: bool = True
    goal: Annotated[
        Literal["", "each", "ranking", "sequences"],
        Meta(
            description="Rows may have several labels: each by itself, or ranked above others. Or "
            "rows are sentences, whose tokens have tags."
        ),
    ] = ""
    scale: Annotated[bool, Meta(description="By running mean and deviation.")] = False
    classes: list[Label] = []
    features: FeatureSpec = FeatureSpec()
    file: Annotated[bytes, Meta(description="A model file, base64.")] | None = None


class PredictRequest(Request, frozen=True):
    """One row, or many; with a version, as the model was then."""

    features: Features | UnsetType = UNSET
    rows: list[Features] | UnsetType = UNSET
    id: Id | None = None  # to give feedback on later; one row
    version: Version | None = None


class Prediction(Answer):
    """A label and its score: above 0 for the second of two classes, else one a class.

    Where a row may have several labels it is a list, and so are the scores, one a label. Of a
    sentence it is a list of tags, with the score of the whole path and a probability for each tag.
    """

    label: Labels | None
    score: float | list[float] | None
    version: Version
    id: str | None = None
    probability: float | list[float] | UnsetType = UNSET  # of it, or each, where the file has them
    # Of such answers, where the file has a guarantee; of several labels one for each of them
    error_at_most: float | list[float] | UnsetType = UNSET
    unfamiliar: list[str] | UnsetType = UNSET  # sentences on columns that are not as in training


class Predictions(Answer):
    """Labels and scores of rows, all by one version."""

    labels: list[Labels | None]
    scores: list[float | list[float]]
    version: Version
    errors_at_most: list[float | list[float]] | UnsetType = UNSET  # one a row, likewise
    unfamiliar: list[str] | UnsetType = UNSET  # sentences on columns that are not as in training


class Example(Request, frozen=True):
    """Features with their label; an id makes it safe to send again."""

    features: Features
    label: Labels
    id: Id | None = None


class LearnRequest(Request, frozen=True):
    """An example, or many that are learned all or none."""

    features: Features | UnsetType = UNSET
    label: Labels | UnsetType = UNSET
    id: Id | None = None
    examples: list[Example] | UnsetType = UNSET


class Learned(Answer):
    """What became of an example, which is on the disk."""

    sequence: Sequence_
    version: Version
    mistake: bool  # of the last weights before
    updated: bool  # whether a step was made: by a mistake, or a right answer within the margin
    predicted: Labels | None  # by the model before it learned the example
    duplicate: bool = False  # the id was there with the same body: the first answer again


class LearnedMany(Answer):
    """What became of each example of a batch."""

    results: list[Learned]
    version: Version


class Feedback(Request, frozen=True):
    """The true label of an earlier prediction with an id."""

    id: Id
    label: Labels


class ExplainRequest(Request, frozen=True):
    """A row whose prediction is to be explained; of several labels one, by default the best.

    Of a sentence it is the tag of a token, by default of the one that is least sure, against the
    tag ``label``, by default the next best.
    """

    features: Features
    label: Label | None = None
    token: Annotated[int, Meta(ge=0, description="Of a sentence; the first is 0.")] | None = None
    version: Version | None = None
    top: Annotated[int, Meta(ge=1, le=1000)] = 20


class FeatureAmount(Answer):
    """What one feature adds to the score."""

    name: str
    value: float
    weight: float
    amount: float  # weight × value
    token: int | UnsetType | None = UNSET  # of a sentence: whose feature it is; null: a step


class ExplanationAnswer(Answer):
    """The sum that decided: positive for one class, negative for the other.

    Where a row may have several labels, ``positive`` is the one whose score it is.
    """

    label: Labels
    positive: Label
    negative: Label | None
    total: float
    bias: float
    terms: list[FeatureAmount]
    others: int  # terms that are not listed
    unknown: int  # features that the model does not know
    version: Version
    token: int | UnsetType = UNSET  # of a sentence: whose tag it is
    rival: list[str] | UnsetType = UNSET  # and the path that the best one is held against


class TeachingExample(Answer):
    """An example that taught the model, and what it adds to the score of the row."""

    sequence: Sequence_
    amount: float
    features: Features
    label: Labels
    id: str | None
    token: str | None
    time: float


class WhyAnswer(Answer):
    """The examples behind a prediction: the score is the sum of what they add."""

    label: Labels
    positive: Label
    negative: Label | None
    total: float
    start: float  # what the model knew when it was created
    teachers: list[TeachingExample]
    others: int  # examples that are not listed
    version: Version
    token: int | UnsetType = UNSET  # of a sentence: whose tag it is
    rival: list[str] | UnsetType = UNSET  # and the path that the best one is held against


class ForgetRequest(Request, frozen=True):
    """Which examples are to be forgotten: all that fit every field given."""

    id: Id | None = None
    token: str | None = None
    before: Annotated[float, Meta(description="Seconds since 1970.")] | None = None


class Forgotten(Answer):
    """How many examples are to be forgotten, and the job that does it in the background."""

    examples: int
    version: Version
    job: int


class RollbackRequest(Request, frozen=True):
    """The version to return to; later examples stay in the journal, unlearned."""

    version: Version


class Job(Answer):
    """A forgetting in the background."""

    job: int
    status: str  # waiting, done or failed
    request: ForgetRequest
    time: float
    reason: str | None = None  # why it still waits, where that is known
    examples: int | None = None
    version: Version | None = None
    error: str | None = None


class CurvePoint(Answer):
    """A point of the progressive error: each example predicted before it is learned."""

    version: Version
    learned: int
    wrong: int
    time: float  # of its last example, seconds since 1970


class Description(Answer):
    """A model."""

    name: str
    rule: str
    memory: str
    title: str
    goal: str  # of rows of any number of labels, or of tags; empty where each has one
    parameters: dict[str, Any]
    features: str  # names, hashed, array, numbered, columns or sentences
    columns: dict[str, str] | None  # and what each is: text, category, numeric
    levels: dict[str, list[str]]  # the known values of columns that have few
    ranges: dict[str, tuple[float, float, float]]  # least, mean and largest number of a column
    classes: list[Label]
    n_features: int
    version: Version
    oldest: Version  # versions before it held what was forgotten
    learned: int
    wrong: int  # predicted wrong before they were learned; of a list of labels not exactly
    mistakes: int  # of the last weights
    error: float | None  # wrong / learned, the progressive error
    created: float
    curve: list[CurvePoint] = []


class ModelList(Answer):
    """All models that the token may know of."""

    models: list[Description]


class TokenRequest(Request, frozen=True):
    """A token to make."""

    name: Name
    scopes: list[Literal["predict", "teach", "inspect", "admin"]]
    models: list[Name] | None = None  # None: all


class TokenAnswer(Answer):
    """A token; the secret itself only in the answer that made it."""

    name: str
    scopes: list[str]
    models: list[str] | None
    created: float
    token: str | None = None


class OwnToken(Answer):
    """What the token of a request may do; without a name where none is needed."""

    name: str | None
    scopes: list[str]
    models: list[str] | None  # None: all


class TokenList(Answer):
    """All tokens."""

    tokens: list[TokenAnswer]


class JournalLine(Answer):
    """An event of a model, a line of NDJSON."""

    sequence: Sequence_
    kind: str
    time: float
    id: str | None
    token: str | None
    features: Features | None
    label: Labels | None
    predicted: Labels | None
    mistake: bool | None
    updated: bool | None
    step: float | None
    rival: Label | None
    forgotten: int | None  # the event that erased it
    undone: int | None  # the return to an older version that left it behind
    note: dict[str, Any] | None


class Ready(Answer):
    """Whether examples can be learned."""

    ready: bool
    reason: str | None = None


class Problem(Answer):
    """What is wrong with a request."""

    error: str


def label_of(value: Any) -> Any:
    """Return a label, or each of several, as a class: a number without decimals is whole."""
    if isinstance(value, tuple):
        return tuple(map(label_of, value))
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value
