"""What people type by habit from elsewhere, and what the command line answers."""

import click
import pytest

from rosenblatt.cli import COMMANDS, main
from rosenblatt.cli.spelling import MEANINGS
from tests.cli.running import invoked


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("--epochs", "--max-iter"),
        ("--learning-rate", "--eta0"),
        ("--lr", "--eta0"),
        ("--random_state", "--seed"),
        ("--delimiter", "--separator"),
        ("--lable", "--label"),
    ],
)
def test_an_option_of_another_name(typed: str, meant: str) -> None:
    """The option that is meant is named, by its meaning or by its spelling."""
    result = invoked("train", "t.csv", typed, "5")
    assert result.exit_code == 2
    assert f"Error: No such option '{typed}'. Did you mean '{meant}'?" in result.stderr


@pytest.mark.parametrize(
    ("typed", "meant"), [("fit", "train"), ("test", "evaluate"), ("pridict", "predict")]
)
def test_a_command_of_another_name(typed: str, meant: str) -> None:
    """The command that is meant is named, by its meaning or by its spelling."""
    result = invoked(typed, "t.csv")
    assert result.exit_code == 2
    assert f"Error: No such command '{typed}'. Did you mean '{meant}'?" in result.stderr
    assert "Error: No such command 'xyzzy'.\n" in invoked("xyzzy").stderr


def test_only_what_exists_is_named() -> None:
    """Every option and command in the tables of meanings is one, and none of their other names."""
    context = click.Context(main)
    commands = [main.get_command(context, name) for name in COMMANDS]
    params = [param for command in commands if command for param in command.params]
    options = {name for param in params for name in (*param.opts, *param.secondary_opts)}
    assert MEANINGS.keys() <= {*options, *COMMANDS}
    assert not COMMANDS.keys() & set(
        " ".join(MEANINGS[name] for name in COMMANDS.keys() & MEANINGS).split()
    )
    for kind in (options, COMMANDS):
        words = " ".join(words for name, words in MEANINGS.items() if name in kind).split()
        assert len(words) == len(set(words))
