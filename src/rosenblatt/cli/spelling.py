"""How a command spells the parameters that sentences mention, and what other spellings mean."""

import shlex
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from rosenblatt.errors import Parameter, spelled
from rosenblatt.wording import nearest

if TYPE_CHECKING:
    from rosenblatt.theory.verdict import Verdict

FLAGS = {  # that are not the name with dashes
    "C": "-C",
    "checkpoint_seconds": "--checkpoint-every",
    "class_": "--class",
    "features": "--x and --y",  # of a plane
    "fit_intercept": "--intercept",
    "n": "-n",
    "n_seeds": "--seeds",
    "random_state": "--seed",
    "templates": "--template",
}
VALUES: dict[tuple[str, object], str] = {  # that are options of their own or words
    ("fit_intercept", False): "--no-intercept",
    ("shuffle", True): "--shuffle every-pass",
    ("shuffle", False): "--shuffle no",
    ("zero_based", False): "--one-based",
}

# What options and commands are called elsewhere: in scikit-learn, Vowpal Wabbit and fastText.
MEANINGS = {
    "--max-iter": "epochs epoch passes iterations n-iter num-epochs iter",
    "--eta0": "learning-rate lr l eta alpha step-size",
    "--label": "target y-column label-column class-column outcome response",
    "--text": "text-column",
    "--category": "categorical cat categories",
    "--numeric": "number numbers numerical num",
    "--ignore": "drop exclude skip ignore-column",
    "--weight": "sample-weight weights",
    "--seed": "random-state random-seed rng",
    "--separator": "delimiter sep d",
    "--output": "out model save final-regressor f",
    "--test": "test-file validation-data eval holdout",
    "--rule": "algorithm algo loss learner method loss-function penalty",
    "--memory": "average averaging",
    "--hash-bits": "bit-precision b bucket hash",
    "--char-ngrams": "minn maxn char-ngram chars",
    "--word-pairs": "ngram ngrams wordngrams word-ngrams bigrams ngram-range",
    "--validation-fraction": "validation-split test-size validation-size",
    "--n-iter-no-change": "patience early-terminate",
    "--intercept": "bias fit-intercept",
    "--no-intercept": "noconstant no-bias",
    "--scale": "normalize standardize standardise",
    "--format": "input-format type",
    "--encoding": "charset",
    "--time-limit": "timeout max-time",
    "--proba": "probabilities probability link predict-proba",
    "--from": "initial-regressor i warm-start resume pretrained",
    "--column-pairs": "pairs interactions quadratic q polynomial",
    "--class-weight": "class-weights balanced scale-pos-weight",
    "--workers": "n-jobs threads thread jobs",
    "train": "fit learn supervised",
    "evaluate": "test score eval validate metrics",
    "predict": "classify infer apply predict-proba",
    "tune": "search optimize optimise autotune grid-search cv",
    "weights": "coef coefficients features importance inspect",
    "explain": "why shap",
    "diagnose": "check separable verdict",
    "plot": "draw picture",
    "serve": "server daemon api",
    "lab": "play gui",
    "demo": "example tutorial",
    "export": "convert onnx save dump",
}


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Ask for the option or command that a word means: by its meaning, else by its spelling.

    >>> did_you_mean("--epochs", ["--max-iter"]) + did_you_mean("evalute", ["evaluate"])
    " Did you mean '--max-iter'? Did you mean 'evaluate'?"
    """
    known, bare = [*known], word.lstrip("-").replace("_", "-").lower()
    by_meaning = (name for name, words in MEANINGS.items() if bare in words.split())
    meant = next((name for name in by_meaning if name in known), None) or nearest(word, known)
    return "" if meant is None else f" Did you mean '{meant}'?"


def flag(parameter: Parameter) -> str:
    """Return a parameter as a person types it into a shell.

    >>> flag(Parameter("hash_bits")), flag(Parameter("ignore", "full name"))
    ('--hash-bits', "--ignore 'full name'")
    >>> flag(Parameter("header", value=False)), flag(Parameter("zero_based", value=True))
    ('--no-header', '--zero-based')
    """
    name, value = parameter
    if (name, value) in VALUES:
        return VALUES[name, value]
    option = FLAGS.get(name, f"--{name.replace('_', '-')}")
    if value is None or value is True:
        return option
    if value is False:
        return f"--no-{option.removeprefix('--')}"
    return f"{option} {shlex.quote(str(value))}"


def for_command(verdict: "Verdict") -> "Verdict":
    """Return a verdict with rows counted from 1 and notes that name options of the command."""
    counted = verdict.counted_from(1)
    notes, others = (
        tuple(spelled(note, flag) for note in one.notes) for one in (counted, counted.estimates)
    )
    return replace(counted, notes=notes, estimates=replace(counted.estimates, notes=others))
