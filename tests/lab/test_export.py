import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from rosenblatt.errors import InputError
from rosenblatt.lab import export
from rosenblatt.lab.document import Document
from rosenblatt.lab.export import exported_page, recording, write_page
from rosenblatt.lab.pictures import Pictures
from rosenblatt.lab.run import Run
from rosenblatt.lab.toy_sets import toy_set


def test_self_contained(tmp_path: Path) -> None:
    """The file names no address, loads nothing, and its policy would not let it."""
    path = tmp_path / "lab.html"
    assert write_page(toy_set("separable"), str(path)) == 72
    text = path.read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\s\"'`]+", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(?:link|img|iframe|object|embed)\b|\bsrc=|@import|\burl\((?!#)", text)
    assert "default-src 'none'; script-src 'sha256-" in text
    assert text.count("<script") == 2


def test_frames_are_those_of_the_lab() -> None:
    """Each recorded frame is the one that the lab shows after so many steps."""
    document = replace(toy_set("circles"), kernel="rbf", memory="average", max_iter=2)
    run = Run(document)
    pictures = Pictures(run)
    value = json.loads(json.dumps(recording(document)))
    assert len(value["frames"]) == run.place(0, "end") + 1 == 81
    for at in (0, 1, 17, 80):
        assert value["frames"][at] == json.loads(json.dumps(pictures.frame(at)))
    assert value["complete"]
    assert value["document"] == document.plain()
    assert len(value["steps"]["weights"]) == len(run.updates)


def test_long_trainings_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file holds no more steps than a browser opens at once, and knows that it was cut."""
    monkeypatch.setattr(export, "MOST_FRAMES", 10)
    value = recording(toy_set("overlapping"))
    assert len(value["frames"]) == 11
    assert len(value["steps"]["row"]) == 10
    assert not value["complete"]


def test_names_cannot_break_out() -> None:
    """Names of columns and labels stand in the file as text, whatever they are."""
    document = Document(points=((0.0, 0.0, 1),), names=("</script><b>", "<!--"))
    assert "</script><b>" not in exported_page(document)


def test_unwritable(tmp_path: Path) -> None:
    """A folder that is not there is told of."""
    with pytest.raises(InputError, match="there is no folder"):
        write_page(toy_set("xor"), str(tmp_path / "none" / "lab.html"))
