"""One HTML file that needs nothing else: words, tables, pictures and their style."""

from datetime import UTC, datetime

from rosenblatt import plots, wording
from rosenblatt.report import sections, tables
from rosenblatt.report.findings import Findings
from rosenblatt.report.markup import templates
from rosenblatt.training.history import REASONS
from rosenblatt.version import __version__


def page(found: Findings) -> str:
    """Return the whole document."""
    modules = {"shapes": sections, "tables": tables, "plots": plots, "wording": wording}
    facts = {
        "reasons": REASONS,
        "version": __version__,
        "day": datetime.now(UTC).date().isoformat(),
    }
    template = templates().get_template("page.html")
    return template.render(found=found, model=found.model, **modules, **facts)
