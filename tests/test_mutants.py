"""The list of edits that ``make mutants`` tries."""

from tests.mutants import MUTANTS
from tests.processes import ROOT


def test_every_edit_can_be_made_and_tried() -> None:
    """Its text stands once in its file, and its test is there: the list is as old as the code."""
    for test, edits in MUTANTS.items():
        path, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / "tests" / path).read_text(encoding="utf-8"), test
        for file, old, new in edits:
            text = (ROOT / "src" / "rosenblatt" / file).read_text(encoding="utf-8")
            assert text.count(old) == 1, f"{file}: {old}"
            assert old != new, file
