"""The pages for newcomers and teachers: every command runs as typed, every scene is there."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from rosenblatt.cli import main
from tests.docs.gallery import FIGURES, TEACHING

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SCENES = ROOT / "src" / "rosenblatt" / "lab" / "assets" / "scenes.js"


PAGES = {
    "start.md": "tumours.html",
    "index.md": "tumours.html",
    "embeddings.md": "head.model",
    "multilabel.md": "tags.json",
    "from-fasttext.md": "tags.model",
    "audit.md": "doubtful.csv",
}


@pytest.mark.parametrize("page", PAGES)
def test_commands_run_as_typed(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the data on, each line of a page can be copied into a terminal."""
    monkeypatch.chdir(tmp_path)
    text = (DOCS / page).read_text("utf-8")
    blocks = re.findall(r"(?ms)^```console\n(.*?)^```", text)
    lines = [line for line in "".join(blocks).splitlines() if re.match(r"\$ (rosenb|python)", line)]
    assert len(lines) > 3
    for line in lines:
        name, *words = shlex.split(line.removeprefix("$ "), comments=True)
        if name == "python":
            subprocess.run([sys.executable, *words], check=True)  # noqa: S603  # of our own page
            continue
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, (line, done.output)
    assert (tmp_path / PAGES[page]).exists()


@pytest.mark.parametrize("page", ["guarantee.md"])
def test_commands_of_other_pages_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command of a page can be typed after those before it."""
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"(?m)^\$ rosenblatt (.*)$", (DOCS / page).read_text("utf-8"))
    assert len(lines) > 2
    for line in lines:
        done = CliRunner().invoke(main, line.split())
        assert done.exit_code == 0, (line, done.output)


def test_files_are_not_overwritten(tmp_path: Path) -> None:
    """The demo writes no file over another."""
    (tmp_path / "test.csv").write_text("mine")
    done = CliRunner().invoke(main, ["demo", "--write", str(tmp_path)])
    assert done.exit_code == 2
    assert "already exists" in done.output
    assert (tmp_path / "test.csv").read_text() == "mine"
    assert not (tmp_path / "tumours.csv").exists()


def test_every_scene_has_a_link_for_teachers() -> None:
    """The page for teachers links each scene of the lab and shows each figure."""
    page = (DOCS / "teach.md").read_text("utf-8")
    scenes = re.findall(r'(?m)^    name: "(\w+)", title', SCENES.read_text("utf-8"))
    assert len(scenes) > 8
    assert {*re.findall(r'play\.html#scene=(\w+)">', page)} == {*scenes}
    assert {*re.findall(r"figures/figure-([\d.]+)\.svg", page)} == {*FIGURES}
    for number in FIGURES:
        assert "<svg" in (TEACHING / f"figure-{number}.svg").read_text("utf-8")


def test_citation() -> None:
    """The version that is cited is that of the package."""
    from rosenblatt import __version__

    assert f"version: {__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"version = {{{__version__}}}" in (DOCS / "teach.md").read_text("utf-8")
