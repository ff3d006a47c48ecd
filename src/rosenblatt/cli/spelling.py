"""How a command spells the parameters that sentences mention."""

import shlex

from rosenblatt.errors import Parameter

FLAGS = {  # that are not the name with dashes
    "C": "-C",
    "checkpoint_seconds": "--checkpoint-every",
    "features": "--x and --y",  # of a plane
    "fit_intercept": "--intercept",
    "random_state": "--seed",
}
VALUES: dict[tuple[str, object], str] = {  # that are options of their own or words
    ("degree", 2): "--pairs",
    ("degree", 3): "--triples",
    ("fit_intercept", False): "--no-intercept",
    ("shuffle", True): "--shuffle every-pass",
    ("shuffle", False): "--shuffle no",
    ("zero_based", False): "--one-based",
}


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
