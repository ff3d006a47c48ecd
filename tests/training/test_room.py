"""What does not fit into memory is said before it is learned from."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from rosenblatt.cli import main
from rosenblatt.models import held_out
from rosenblatt.tasks import CLASSES, SETS, task_of
from rosenblatt.training import places, room
from rosenblatt.training.room import free_memory, lack_of_room


def test_lack_of_room_has_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Features, labels, bytes that are needed and free, and what helps."""
    monkeypatch.setattr(room, "free_memory", lambda: 10**9)
    said = lack_of_room(10**6 - 1, task_of(SETS, 300), 2)
    assert said is not None
    assert said.startswith("The weights of 999,999 features and 300 labels take 4.8 GB; 1.0 GB")
    assert lack_of_room(10**5, task_of(SETS, 300), 2) is None
    assert lack_of_room(10**6, task_of(CLASSES, 300), 2) is None  # only those that exist


def test_free_memory_is_that_of_the_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may use less than the machine has; without a limit it is the machine's."""
    every = free_memory()
    assert every is None or every > 0
    monkeypatch.setattr(room, "GROUP", tmp_path)
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("400\n")
    assert free_memory() == 600
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory() != 600


@pytest.mark.filterwarnings("always:The weights of")
def test_a_command_says_it_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The warning names the options as a command takes them."""
    monkeypatch.setattr(room, "free_memory", lambda: 100)
    monkeypatch.setattr(held_out, "FEW_WEIGHTS", 0)
    monkeypatch.setattr(places, "MANY_WEIGHTS", 1 << 40)
    path = tmp_path / "rows.csv"
    path.write_text("y,t\n" + "".join(f"{'abc'[i % 3]},word{i % 9} more\n" for i in range(60)))
    command = ["train", str(path), "--label", "y", "--text", "t", "-o", str(tmp_path / "m.model")]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "0.0 GB of memory are free. Have fewer features, with --hash-bits 20 or a" in said
    assert "--min-count" in said
