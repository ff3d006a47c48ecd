"""The documentation of the command line is what the commands say of themselves."""

from rosenblatt.cli import COMMANDS
from tests.docs.help_pages import PAGE, fresh_page


def test_pages_are_fresh() -> None:
    """Every command and option stands in the docs as --help prints it."""
    page = PAGE.read_text()
    assert page == fresh_page(), "run: python -m tests.docs.help_pages"
    for command in COMMANDS:
        assert f"### {command}\n" in page
