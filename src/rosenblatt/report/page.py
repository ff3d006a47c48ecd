"""One HTML file that needs nothing else: words, tables, pictures and their style."""

from datetime import UTC, datetime

from rosenblatt import plots, wording
from rosenblatt.report import sections, tables
from rosenblatt.report.card import card
from rosenblatt.report.findings import Findings
from rosenblatt.report.markup import templates
from rosenblatt.tasks import evaluation
from rosenblatt.training.history import REASONS
from rosenblatt.version import __version__


def document(found: Findings, path: str) -> str:
    """Return what a file holds by its name: a model card in Markdown, or the page."""
    return card(found) if path.endswith(".md") else page(found)


def page(found: Findings) -> str:
    """Return the whole document."""
    modules = {"shapes": sections, "tables": tables, "plots": plots, "wording": wording}
    modules["evaluation"] = evaluation
    facts = {
        "reasons": REASONS,
        "version": __version__,
        "day": datetime.now(UTC).date().isoformat(),
    }
    template = templates().get_template("page.html")
    return template.render(found=found, model=found.model, **modules, **facts)
