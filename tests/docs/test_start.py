"""The pages for newcomers and teachers: every scene is there, no file is overwritten."""

import re
from pathlib import Path

from click.testing import CliRunner

from rosenblatt.cli import main
from tests.docs.gallery import FIGURES, TEACHING

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SCENES = ROOT / "src" / "rosenblatt" / "lab" / "assets" / "scenes.js"


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
