"""Every parameter once: its name, type, range, default, sentence and group.

Checks, options of commands, the keywords of ``train_files`` and the docs of the estimators are read
from here, so a new parameter is one entry. ``SETTINGS`` holds those of ``train_files`` and of the
commands, ``ESTIMATOR_SETTINGS`` those of the estimators.
"""

import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from numbers import Integral, Real
from os import PathLike
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypedDict,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.rules import (
    RULES,
    ZERO_CONVENTIONS,
    Interval,
    RuleParameter,
    RuleValues,
    rule_parameters,
)
from rosenblatt.wording import word_list

Function = TypeVar("Function", bound=Callable[..., Any])

METRICS = {  # by name, with their titles
    "error": "error",
    "f1": "mean F1 of the classes",
    "balanced-accuracy": "balanced accuracy",
    "roc-auc": "area under the ROC curve",
    "log-loss": "log-loss",
}
COUNTED = ("error", "f1", "balanced-accuracy")  # from counts; a threshold is chosen by them
GOALS = ("each", "ranking")  # when a row of several labels is right
MEMORIES = ("average", "last")
CALIBRATIONS = ("sigmoid", "temperature", "isotonic")  # how scores become probabilities
LONGEST_NGRAM = 32  # characters


class Check(NamedTuple):
    """What a value must be, and whether it is."""

    requirement: str
    accepts: Callable[[Any], bool]
    choices: tuple[object, ...] = ()


def one_of(choices: Iterable[object]) -> Check:
    """Return the check that a value is one of these.

    >>> one_of([True, "once"]).requirement, one_of([True, "once"]).accepts(1)
    ("True or 'once'", False)
    """
    values = tuple(choices)
    return Check(
        word_list(map(repr, values), len(values), " or "),
        lambda v: any(v is c or (isinstance(v, str) and v == c) for c in values),
        values,
    )


def optional(check: Check | Interval) -> Check:
    """Return the check that accepts None as well."""
    return Check(f"None or {check.requirement}", lambda v: v is None or check.accepts(v))


def is_flag(value: object) -> bool:
    """Return whether a value is True or False, be it NumPy's, which is not imported here."""
    numpys = getattr(value, "dtype", None) == "bool" and not hasattr(value, "__len__")
    return isinstance(value, bool) or numpys


def _real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _seed(value: object) -> bool:
    random = sys.modules.get("numpy.random")
    if random is not None and isinstance(value, (random.Generator, random.RandomState)):
        return True
    return value is None or Interval(low=0, closed=True, whole=True).accepts(value)


def _lengths(value: object) -> bool:
    pair = value if isinstance(value, (list, tuple)) else ()
    whole = len(pair) == 2 and all(type(length) is int for length in pair)
    return whole and (tuple(pair) == (0, 0) or 1 <= pair[0] <= pair[1] <= LONGEST_NGRAM)


def _column_pairs(value: object) -> bool:
    pairs = (value,) if isinstance(value, str) else value
    if isinstance(pairs, (list, tuple)):
        return all(isinstance(pair, str) and ":" in pair for pair in pairs)
    return Interval(low=0, high=1000, closed=True, whole=True).accepts(pairs)


FLAG = Check("True or False", is_flag)
AT_LEAST_ONE = Interval(low=1, closed=True, whole=True)
POSITIVE = Interval()


class Setting(NamedTuple):
    """What is known of a parameter; of a command's default ``shown`` says what it means."""

    sentence: str  # what it does, for help and docs
    default: Any = None
    shown: str = ""
    more: str = ""  # what the docs say beyond the help
    check: Check | Interval | None = None
    metavar: str = ""  # what stands for a value in the help
    name: str = ""
    group: str = ""  # of options

    @property
    def text(self) -> str:
        """All that the docs say, as Python spells it."""
        return f"{self.sentence} {self.more}".strip()


# Types, with what they must be and what stands for them in the help.
Switch = Annotated[bool, FLAG]
OpenSwitch = Annotated[bool | None, FLAG]
Count = Annotated[int, AT_LEAST_ONE]
OpenCount = Annotated[int | None, AT_LEAST_ONE]
Size = Annotated[int | None, "SIZE"]
Names = str | Sequence[str]
ColumnName = Annotated[str | None, "COLUMN"]
ColumnNames = Annotated[Names, "COLUMN"]
FilePath = Annotated[str | PathLike[str] | None, "FILE"]


class FileSettings(TypedDict, total=False):
    """How files are laid out and held; what is left open is detected."""

    format: Annotated[str | None, Setting("Format of the data files.", shown="detected")]
    separator: Annotated[
        str | None,
        "CHAR",
        Setting(
            'Field separator of CSV files; "tab" for a tab.',
            shown="detected",
            more="A space stands for any number of blanks.",
        ),
    ]
    header: Annotated[
        OpenSwitch,
        Setting("Whether the first line of CSV files holds the column names.", shown="detected"),
    ]
    zero_based: Annotated[
        OpenSwitch,
        Setting("Whether feature numbers in svmlight files start at 0 or at 1.", shown="detected"),
    ]
    quoting: Annotated[
        OpenSwitch,
        Setting("Whether double quotes enclose fields.", shown="on for CSV, detected for TSV"),
    ]
    names: Annotated[
        Names, Setting("Column names of data without a header.", (), "column_1, column_2, ...")
    ]
    encoding: Annotated[str, "NAME", Setting("Text encoding.", "utf-8", more="UTF-16 is detected.")]
    max_index: Annotated[
        OpenCount,
        Setting(
            "Largest feature number in svmlight files.",
            shown="16777216, or the size of the files in bytes if that is more",
        ),
    ]
    buffer: Annotated[
        Size,
        Setting(
            "Size of the shuffle buffer; memory use is about three times this and 250 MB.",
            shown="64M, or 16M for a single pass",
        ),
    ]
    cache: Annotated[
        str | PathLike[str] | None,
        "FOLDER",
        Setting(
            "Folder for parsed rows while training runs.", shown="the folder for temporary files"
        ),
    ]


class ColumnSettings(TypedDict, total=False):
    """What the columns of tables are, and what becomes of their values."""

    label: Annotated[
        ColumnName,
        Setting(
            "Column that holds the labels: its name, or its number from 1, or from -1 backwards.",
            shown="detected",
        ),
    ]
    label_separator: Annotated[
        str | None,
        "TEXT",
        Check("a text of at least one character", lambda v: isinstance(v, str) and v != ""),
        Setting(
            "Separator of the labels of a row, where a row may have several or none.",
            shown="one label a row, but for lists and for fastText lines with several",
        ),
    ]
    text: Annotated[ColumnNames, Setting("Column of free text, split into words.", ())]
    category: Annotated[ColumnNames, Setting("Column of categories.", ())]
    numeric: Annotated[ColumnNames, Setting("Column of numbers.", ())]
    ignore: Annotated[ColumnNames, Setting("Column to leave out.", ())]
    weight: Annotated[
        ColumnName,
        Setting(
            "Column of row weights: they multiply the steps, and rows of weight 0 are left out.",
            shown="1 for every row",
        ),
    ]
    group: Annotated[
        ColumnName,
        Setting(
            "Column of groups, not a feature: rows of equal value are held out together, or not.",
            shown="every row by itself",
        ),
    ]
    scale: Annotated[
        Switch, Setting("Scale numeric columns to mean 0 and standard deviation 1.", default=True)
    ]
    missing: Annotated[
        str,
        one_of(["mean", "zero", "error"]),
        Setting(
            "Value used for missing numbers; with error, a missing number stops the training.",
            "mean",
        ),
    ]
    decimal: Annotated[
        str | None,
        one_of(["point", "comma"]),
        Setting(
            "Decimal separator of numbers; the other one may group thousands.",
            shown="detected",
        ),
    ]
    bins: Annotated[
        int | None,
        Interval(low=0, high=1000, closed=True, whole=True),
        Setting(
            "Use N equally frequent ranges of each number as features beside it; 0: none.",
            shown="nested ranges, up to 64, if held-out rows say so",
        ),
    ]
    form: Annotated[
        str | None,
        one_of(["plain", "few-bins", "bins", "pairs", "triples", "more-pairs"]),
        Setting(
            "Richest form of a table that is tried: its columns as they are, ranges of numbers, "
            "pairs of columns, triples.",
            shown="what held-out rows say",
        ),
    ]
    column_pairs: Annotated[
        int | Names | None,
        Check("a number of pairs up to 1000, or pairs of columns as A:B", _column_pairs),
        "N|A:B",
        Setting(
            "Combine columns, ranges of numbers among them: at most N pairs, those that the "
            "mistakes ask for, or the columns A and B; 0: none.",
            shown="20 or more, if held-out rows say so",
        ),
    ]


class TextSettings(TypedDict, total=False):
    """How texts become features."""

    hash_bits: Annotated[
        int | None,
        Interval(low=1, high=30, closed=True, whole=True),  # indices have 32 bits, one a sign
        Setting("Hash the words of texts to 2^N features.", shown="no hashing"),
    ]
    word_pairs: Annotated[
        Switch, Setting("Use pairs of neighbouring words of texts as features.", default=True)
    ]
    min_count: Annotated[
        OpenCount,
        Setting(
            "Leave out words and pairs in fewer than N texts.",
            shown="2, or 1 below 1,000 rows, 100 terms a text or 500 runs of characters",
        ),
    ]
    words: Annotated[
        OpenSwitch,
        Setting("Use words of texts as features.", shown="if held-out rows say so"),
    ]
    char_ngrams: Annotated[
        tuple[int, int] | None,
        Check(f"the shortest and the longest length, from 1 to {LONGEST_NGRAM}", _lengths),
        "MIN-MAX",
        Setting(
            "Use runs of MIN to MAX characters of the words of texts as features, too.",
            shown="2-5 if held-out rows say so",
            more=(
                "For words of many forms, names, codes and languages without spaces. Where nothing "
                "is tried, texts without blanks between words have 1-3."
            ),
        ),
    ]


class LearningSettings(TypedDict, total=False):
    """Rule, memory, kernel and the order of rows."""

    rule: Annotated[
        str | None,
        Check(one_of(RULES)[0], lambda v: isinstance(v, str) and v in RULES),  # also later ones
        Setting(
            "Update rule.",
            shown=Sentence(
                "pa1 or arow, as held-out rows say; with "
                f"{Parameter('memory')} or on Dask perceptron"
            ),
        ),
    ]
    memory: Annotated[
        str | None,
        one_of(["last", "average", "vote"]),
        Setting(
            "Weights that decide: the average of all, the last, all of them by vote.",
            shown="that of the rule",
        ),
    ]
    kernel: Annotated[
        str | None,
        one_of(["rbf", "poly"]),
        Setting(
            "See rows through a kernel, which bends the boundary: exp(-gamma*(x-x')^2) or "
            "(gamma*x*x'+1)^degree. For data in memory; predict and evaluate take such models.",
            shown="none",
        ),
    ]
    gamma: Annotated[
        float | str | None,
        *("G", Setting("Factor gamma of the kernel.", shown="1/(features * variance)")),
    ]
    kernel_degree: Annotated[
        OpenCount, Setting(Sentence(f"Degree of {Parameter('kernel', 'poly')}."), shown="2")
    ]
    goal: Annotated[
        str | None,
        one_of(GOALS),
        Setting(
            "When a row of several labels is right: each label on its side of zero, or all that "
            "it has ranked above all others.",
            shown="each",
        ),
    ]
    zero: Annotated[
        str,
        one_of(ZERO_CONVENTIONS),
        Setting(
            "What an activation of exactly 0 counts as during training.",
            "mistake",
            more='"mistake": wrong for both labels, so that learning can start from zero weights. '
            '"negative" or "positive": it predicts that class, as some texts have it. Between '
            "several classes, a tie likewise.",
        ),
    ]
    fit_intercept: Annotated[
        Switch,
        Setting(
            "Learn a bias term.",
            default=True,
            more="It is the weight of a constant feature 1, which counts in ‖x‖² and in kernels.",
        ),
    ]
    shuffle: Annotated[
        bool | str,
        one_of([True, False, "once", "full"]),
        Setting(
            "When to shuffle the rows. full: every pass by one permutation; else rows of more than "
            "2 million values are shuffled by groups of 8 neighbours, 512 together.",
            default=True,
            more='True: a new random order for every pass, which needs the fewest passes. "once": '
            "one random order for all passes. False: as given.",
        ),
    ]
    random_state: Annotated[
        Any,
        Check("None, an integer of at least 0, or a NumPy Generator or RandomState", _seed),
        Setting(
            "Random seed.",
            0,
            more="The same seed gives the same model, on every platform. None: another one each "
            "time.",
        ),
    ]
    metric: Annotated[
        str,
        one_of([*METRICS]),
        Setting(
            "Metric by which held-out rows choose the recipe; f1 is the mean over the classes, so "
            "that a rare one counts like a frequent one.",
            "error",
        ),
    ]


class StoppingSettings(TypedDict, total=False):
    """When a training ends, and how it goes on after it was killed."""

    max_iter: Annotated[
        OpenCount,
        Setting(
            "Maximum number of passes over the data.",
            shown="that of the rule",
            more="Training ends sooner on a pass without a mistake.",
        ),
    ]
    early_stopping: Annotated[
        Switch,
        Setting(
            "Hold out rows and stop when the error on them no longer falls.",
            default=True,
            more="After every pass the weights that would be returned are scored; the best are.",
        ),
    ]
    recipe: Annotated[
        str,
        one_of(["auto", "plain"]),
        Setting(
            "Let held-out rows decide what you leave open: rule, its parameter, bins, pairs of "
            "columns, whole numbers as categories, characters of texts; or plain: the rule for the "
            "kind of file, nothing else.",
            "auto",
        ),
    ]
    refit: Annotated[
        Switch,
        Setting(
            "After early stopping, train again on all rows with the number of passes found, or all "
            "passes if fewer than 200 rows were held out (in one process only, not on Dask).",
            default=True,
        ),
    ]
    validation_fraction: Annotated[
        float, "SHARE", Interval(high=1.0), Setting("Share of the rows to hold out.", 0.1)
    ]
    validation: Annotated[
        Names,
        "FILE",
        Setting(
            "File of rows to hold out in place of random ones; they are never learned from.",
            (),
            "random rows",
            more="What is learned of columns (words, levels, scaling) is learned without them.",
        ),
    ]
    n_iter_no_change: Annotated[
        Count, Setting("Number of passes without improvement before early stopping.", 5)
    ]
    time_limit: Annotated[
        float | None,
        "TIME",
        Check(
            "None or a number of seconds above 0",
            lambda v: v is None or Interval(infinite=True).accepts(v),
        ),
        Setting("Stop training after this time and keep the best so far.", shown="no limit"),
    ]
    checkpoint: Annotated[
        FilePath,
        Setting("File to save progress to; the same command resumes from it.", shown="none"),
    ]
    checkpoint_seconds: Annotated[float, "TIME", Setting("Time between two checkpoints.", 30.0)]


class RareClassSettings(TypedDict, total=False):
    """What rare classes and probabilities need."""

    class_weight: Annotated[
        Mapping[Any, float] | str | None,
        "balanced|LABEL=W,...",
        Check(
            'None, "balanced" or a dictionary of class: weight',
            lambda v: (
                v is None or isinstance(v, Mapping) or (isinstance(v, str) and v == "balanced")
            ),
        ),
        Setting(
            "Factor of the steps on rows of a class; balanced: all classes count alike.",
            shown="1 for every class",
        ),
    ]
    threshold: Annotated[
        str | None,
        "METRIC",
        one_of(COUNTED),
        Setting(
            "With two classes, move the bias to where METRIC is best on held-out rows: "
            f"{', '.join(COUNTED)}.",
            shown="0",
        ),
    ]
    calibrate: Annotated[Switch, Setting("Fit probabilities on the held-out rows.", default=False)]
    guarantee: Annotated[
        float | Names | None,
        "FILE|SHARE",
        Setting(
            "Labelled rows to set the guarantee by, which nothing is learned from or chosen by: a "
            "file, or a share of the rows, drawn at random. The model stores how sure it is of "
            "them.",
            shown="none",
        ),
    ]


class OutputSettings(TypedDict, total=False):
    """What the model stores and what is reported while it trains."""

    verdict: Annotated[
        Switch,
        Setting(
            "Prove whether the classes are linearly separable; the proof is stored in the model.",
            default=False,
        ),
    ]
    record_mistakes: Annotated[
        Switch,
        Setting(
            "Store the rows that changed the weights in the model.",
            default=False,
            more="The list says which rows taught a decision (``rosenblatt.why``), and grows with "
            "every mistake.",
        ),
    ]
    observers: Annotated[
        Sequence[Callable[[Any], object]] | None,
        Check("None or a sequence of callables", lambda v: v is None or all(map(callable, v))),
        Setting("Functions to call with the record of every pass (see ``history_``)."),
    ]
    progress: Annotated[
        Callable[[int | None, float], Any] | None,
        Setting("Bar to show, given the number of bytes and the share of them to learn from."),
    ]
    tell: Annotated[
        Callable[[str], object] | None, Setting("Function of a sentence to tell the user.")
    ]


class DamageSettings(TypedDict, total=False):
    """What is done about faults of files."""

    encoding_errors: Annotated[
        str,
        one_of(["strict", "replace"]),
        Setting(
            "Stop at bytes that are not text in that encoding, or replace them by U+FFFD.", "strict"
        ),
    ]
    bad_rows: Annotated[
        str,
        one_of(["error", "skip"]),
        Setting("Stop at rows that cannot be read, or skip and count them.", "error"),
    ]
    max_bad_share: Annotated[
        float,
        "SHARE",
        Setting(
            Sentence(f"Largest share of bad rows that {Parameter('bad_rows', 'skip')} accepts."),
            0.01,
        ),
    ]


class ClusterSettings(TypedDict, total=False):
    """Where a command trains."""

    engine: Annotated[
        str,
        one_of(["process", "dask"]),
        Setting("Train in this process or on a Dask cluster.", "process"),
    ]
    workers: Annotated[
        OpenCount,
        Setting("Number of worker processes to start on this machine.", shown="one per processor"),
    ]
    worker_memory: Annotated[
        Size,
        Setting(
            "Memory limit of a worker; a worker above it is restarted.",
            shown="an equal share of the machine's memory",
        ),
    ]
    scheduler: Annotated[
        str | None,
        "ADDRESS",
        Setting(
            "Address of a running Dask scheduler (tls://...).", shown="a cluster on this machine"
        ),
    ]
    tls_ca: Annotated[
        str | None,
        "FILE",
        Setting("Certificate of the authority that signed both sides' certificates.", shown="none"),
    ]
    tls_cert: Annotated[str | None, "FILE", Setting("Certificate of this client.", shown="none")]
    tls_key: Annotated[str | None, "FILE", Setting("Private key of this client.", shown="none")]
    unencrypted: Annotated[
        Switch,
        Setting(
            "Allow a scheduler without TLS. Anyone who reaches it can run code on its workers.",
            default=False,
        ),
    ]
    shards: Annotated[
        OpenCount,
        Setting("Number of parts into which the rows are divided.", shown="number of workers"),
    ]
    mixing: Annotated[
        str | None,
        one_of(["uniform", "mistakes"]),
        Setting(
            "Weight of each shard's model: all equal, or by its number of mistakes.",
            shown="uniform",
        ),
    ]
    shuffle_shards: Annotated[Switch, Setting("Assign rows to shards at random.", default=False)]


class TrainingSettings(
    FileSettings,
    ColumnSettings,
    TextSettings,
    LearningSettings,
    RuleValues,
    StoppingSettings,
    RareClassSettings,
    OutputSettings,
    DamageSettings,
    total=False,
):
    """The keywords of ``train_files``."""


class SentenceSettings(TypedDict, total=False):
    """What goes with sentences alone; commands have it."""


LEARNING, SENTENCES = "Learning", "Sentences"
GROUPS: dict[str, Any] = {  # of options, in the order of the help
    "Data": FileSettings,
    "Columns": ColumnSettings,
    "Text": TextSettings,
    LEARNING: LearningSettings,
    "Stopping": StoppingSettings,
    "Rare classes and probabilities": RareClassSettings,
    "Output": OutputSettings,
    "Damaged files": DamageSettings,
    SENTENCES: SentenceSettings,
    "Several machines": ClusterSettings,
}


def _entry(name: str, group: str, parts: Sequence[Any]) -> Setting:
    """Return a setting, complete with its name and what its annotation says."""
    setting: Setting = parts[-1]
    for part in parts[:-1]:
        setting = setting._replace(**{"metavar" if isinstance(part, str) else "check": part})
    return setting._replace(name=name, group=group)


SETTINGS: dict[str, Setting] = {
    name: _entry(name, group, hint.__metadata__)
    for group, kind in GROUPS.items()
    for name, hint in kind.__annotations__.items()
}


def rule_setting(entry: RuleParameter) -> Setting:
    """Return the parameter of a rule as a setting."""
    shown = f"{entry.default:g}"
    return Setting(entry.meaning, None, shown, entry.more, entry, "X", entry.name, LEARNING)


SETTINGS |= {name: rule_setting(entry) for name, entry in rule_parameters().items()}
DEFAULTS = {name: setting.default for name, setting in SETTINGS.items()}

ESTIMATOR_SETTINGS: dict[str, Setting] = SETTINGS | {
    "rule": Setting(
        '"arow": steps towards margin 1 and forgives noise. "cw": the smallest change after which '
        'the row is right with the confidence asked for. "scw1" and "scw2": as "cw", with steps '
        "limited or softened by C.",
        check=SETTINGS["rule"].check,
    ),
    "loss": Setting(
        '"hinge": steps are cut off at C (PA-I). "squared_hinge": C softens them (PA-II).',
        check=one_of(["hinge", "squared_hinge"]),
    ),
    "average": Setting(
        "Return the mean of all weight vectors of training in place of the last one.", check=FLAG
    ),
    "calibrate": Setting(
        "Fit probabilities (``predict_proba``) to the scores of rows that were not learned from: "
        "estimators like this one learn from a part of the rows and score the others, in five "
        'folds, or once where there are many rows. "sigmoid", "temperature" or "isotonic" say how '
        'scores become probabilities. True: "sigmoid" for two classes and else "temperature". The '
        "label is the most probable class: of two, the bias moves to where both are equally so.",
        check=one_of([True, False, *CALIBRATIONS]),
    ),
    "shuffle": SETTINGS["shuffle"]._replace(
        sentence="When to shuffle the rows.",
        more='True: a new random order for every pass, which needs the fewest passes. "once": one '
        "random order for all passes. False: as given. Rows of more than 2 million values are "
        'shuffled by groups of 8 neighbours, 512 together, but "full" is one permutation of all, '
        "a new one for every pass.",
    ),
    "warm_start": Setting("Go on from the last fit in place of starting anew.", check=FLAG),
    "verbose": Setting(
        "Show a bar with passes and mistakes on standard error.",
        check=Check("True, False or an integer", lambda v: is_flag(v) or isinstance(v, Integral)),
    ),
    "parameters": Setting(
        "The rule's own parameters by name, for example {'C': 0.1}; those that are missing have "
        "their defaults.",
        check=Check(
            "None or a dictionary of the names and values of the rule's parameters",
            lambda v: v is None or (isinstance(v, Mapping) and all(map(_real, v.values()))),
        ),
    ),
    "kernel": Setting(
        '"linear": x·x′. "poly": (γ·x·x′ + coef0)^degree. "rbf": exp(−γ·‖x − x′‖²). '
        '"precomputed": X is the matrix of kernel values, of each row against the training rows. '
        "Or a symmetric function of two matrices that returns the matrix of their values.",
        check=Check(
            "'linear', 'poly', 'rbf', 'precomputed' or a function of two matrices",
            lambda v: callable(v) or v in ("linear", "poly", "rbf", "precomputed"),
        ),
    ),
    "degree": Setting("Degree of the polynomial kernel.", check=AT_LEAST_ONE),
    "gamma": Setting(
        'γ of the polynomial and the RBF kernel. "scale": 1/(n_features · X.var()), of the first '
        'batch in partial_fit. "auto": 1/n_features.',
        check=Check(
            "'scale', 'auto' or a finite number above 0",
            lambda v: v in {"scale", "auto"} if isinstance(v, str) else POSITIVE.accepts(v),
        ),
    ),
    "coef0": Setting(
        "The constant within the polynomial kernel.",
        check=Check("a finite number", lambda v: _real(v) and isfinite(v)),
    ),
    "multi_class": Setting(
        'More than two classes are learned by one machine, "joint": the true class gains what its '
        'best rival loses; or by one learner for each class against the rest, "one-vs-rest", as '
        "Freund & Schapire did. All share the kernel values.",
        check=one_of(["joint", "one-vs-rest"]),
    ),
    "cache_size": Setting(
        "Megabytes of kernel values to hold at a time: those of a block under way, and those of "
        "rows that taught, for later passes. It changes the time, not the model.",
        check=POSITIVE,
    ),
}


CHECKS = {
    name: setting.check for name, setting in ESTIMATOR_SETTINGS.items() if setting.check is not None
}


def check_parameters(
    owner: str, parameters: Mapping[str, object], checks: Mapping[str, Check | Interval] = CHECKS
) -> None:
    """Raise InputError for the first parameter that is not what it must be.

    A class of your own checks those that it alone has.
    """
    for name, value in parameters.items():
        if name in checks and not checks[name].accepts(value):
            requirement = checks[name].requirement
            msg = f"The parameter {name} of {owner} must be {requirement}; got {value!r}."
            raise InputError(msg)


def check_setting(name: str, value: object) -> None:
    """Raise InputError where a parameter of ``train_files`` is not what it must be."""
    check = SETTINGS[name].check
    if check is not None and not check.accepts(value):
        raise InputError(f"{name} must be {check.requirement}; got {value!r}.")


def parameter_lines(
    texts: Mapping[str, str], types: Mapping[str, str], defaults: Mapping[str, str]
) -> str:
    """Return what a docstring says of parameters with these texts, types and defaults."""
    lines = []
    for name, default in defaults.items():
        kind = f"{types[name]}, " if types[name] else ""
        lines += [f"{name} : {kind}default {default}", indented(texts[name])]
    return "\n".join(lines)


def type_in_words(hint: Any, check: Check | Interval | None = None) -> str:
    """Return what a value must be, for the docs: by its check, else by its type.

    What None stands for is said of the default.

    >>> type_in_words(bool, FLAG), type_in_words(float | None), type_in_words(Names | None)
    ('bool', 'float', 'str or list of str')
    """
    if check is FLAG:
        return "bool"
    return _hint_in_words(hint) if check is None else check.requirement.removeprefix("None or ")


def _hint_in_words(hint: Any) -> str:
    kind, inner = get_origin(hint), get_args(hint)
    if isinstance(hint, str):  # of a package that is not imported
        return hint.removesuffix(" | None")
    if kind in (Union, UnionType):
        parts = [_hint_in_words(one) for one in inner if one is not NoneType]
        return word_list([part for part in parts if part], len(parts), " or ")
    if kind is Literal:
        return word_list(map(repr, inner), len(inner), " or ")
    if kind in (Sequence, tuple):
        return f"list of {_hint_in_words(inner[0])}"
    names = {Mapping: "dict", Callable: "function", PathLike: "path", Any: ""}
    return names.get(kind or hint, getattr(hint, "__name__", ""))


def indented(text: str) -> str:
    """Return a text as a paragraph of a section."""
    return textwrap.fill(text, 96, initial_indent="    ", subsequent_indent="    ")


def with_keywords(kind: Any) -> Callable[[Function], Function]:
    """Return a decorator that lists the keywords of a function in its signature and its docs."""
    listed = {name: SETTINGS[name] for name in kind.__annotations__}
    keywords = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=listed[name].default,
            annotation=getattr(hint, "__origin__", hint),
        )
        for name, hint in kind.__annotations__.items()
    ]

    def complete(function: Function) -> Function:
        signature = inspect.signature(function)
        first = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        lines = parameter_lines(
            {name: s.text for name, s in listed.items()},
            {k.name: type_in_words(k.annotation, listed[k.name].check) for k in keywords},
            {name: s.shown or repr(s.default) for name, s in listed.items()},
        )
        function.__doc__ = inspect.cleandoc(function.__doc__ or "").replace("{parameters}", lines)
        vars(function)["__signature__"] = signature.replace(parameters=[*first, *keywords])
        return function

    return complete
