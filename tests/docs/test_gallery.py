"""The gallery and the page on pictures show every kind."""

import re
from pathlib import Path

from rosenblatt.cli.pictures import KINDS
from tests.docs.gallery import FOLDER, INDEX, PICTURES, index, page

PAGE = Path(__file__).parents[2] / "docs" / "plots.md"
MOST_BYTES = 60_000


def test_index_is_fresh() -> None:
    """The pages of the gallery are what their generator writes, and every kind is in them."""
    assert INDEX.read_text() == index(), "run: python -m tests.docs.gallery"
    for name in PICTURES:
        assert (FOLDER / f"{name}.md").read_text() == page(name), (
            "run: python -m tests.docs.gallery"
        )
    assert {picture.kind for picture in PICTURES.values()} == {*KINDS}


def test_pictures_are_there() -> None:
    """Each picture is a small PNG."""
    for name in PICTURES:
        content = (FOLDER / f"{name}.png").read_bytes()
        assert content.startswith(b"\x89PNG")
        assert len(content) < MOST_BYTES, name


def test_page_shows_every_kind() -> None:
    """The page on pictures has a section for each kind, and shows each picture of the gallery."""
    text = PAGE.read_text()
    assert re.findall(r"^### (.*)$", text, re.MULTILINE) == sorted(
        KINDS, key=lambda kind: text.index(f"\n### {kind}\n")
    )
    shown = re.findall(r"\(gallery/(.*?)\.png\)", text)
    assert {*shown} == {*PICTURES}
