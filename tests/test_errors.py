"""Sentences name parameters; Python and the command line spell them each in its own way."""

import copy
import pickle
import warnings

import pytest

from rosenblatt.cli.spelling import flag
from rosenblatt.errors import InputError, Parameter, Sentence, spelled, warn_caller

ADVICE = Sentence(f"Leave it out with {Parameter('ignore', 'full name')}.")


def test_python_and_the_command_line_spell_a_parameter_differently() -> None:
    """One sentence reads as Python in Python and as an option in a command."""
    assert str(ADVICE) == "Leave it out with ignore='full name'."
    assert spelled(ADVICE, flag) == "Leave it out with --ignore 'full name'."


@pytest.mark.parametrize(
    ("parameter", "option"),
    [
        (Parameter("label"), "--label"),
        (Parameter("C"), "-C"),
        (Parameter("hash_bits", 18), "--hash-bits 18"),
        (Parameter("random_state"), "--seed"),
        (Parameter("shuffle", value=True), "--shuffle every-pass"),
        (Parameter("shuffle", value=False), "--shuffle no"),
        (Parameter("early_stopping", value=False), "--no-early-stopping"),
        (Parameter("zero_based", value=False), "--one-based"),
    ],
)
def test_flags(parameter: Parameter, option: str) -> None:
    """Names, truth values and the options with names of their own become what a person types."""
    assert flag(parameter) == option


def test_sentences_are_put_together() -> None:
    """A sentence made of sentences still knows every mention."""
    whole = Sentence("Column 'a' is constant. ", ADVICE)
    assert spelled(whole, flag) == "Column 'a' is constant. Leave it out with --ignore 'full name'."


def test_errors_and_warnings_keep_the_mentions() -> None:
    """An error that came from another process, a copy and a warning are spelled by the edge too."""
    error = InputError(ADVICE)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(ADVICE, stacklevel=1)
    messages = [pickle.loads(pickle.dumps(error)), copy.deepcopy(error), caught[0].message]  # noqa: S301
    assert [spelled(message, flag) for message in messages] == [spelled(ADVICE, flag)] * 3


def test_plain_text_stays_as_it_is() -> None:
    """What mentions no parameter is the same at every edge, however it looks."""
    assert spelled(InputError("Column 'label=' is empty."), flag) == "Column 'label=' is empty."
    assert spelled(OSError(2, "No such file"), flag) == "[Errno 2] No such file"


def test_a_warning_points_at_the_line_of_the_caller() -> None:
    """However deep the package is when it warns, the user's own line is shown."""
    package = {"__name__": "rosenblatt.inner", "warn_caller": warn_caller}
    exec("def outer():\n    inner()\ndef inner():\n    warn_caller('odd')", package)  # noqa: S102
    with pytest.warns(UserWarning, match="odd") as caught:
        package["outer"]()  # type: ignore[operator]
    assert caught[0].filename == __file__
