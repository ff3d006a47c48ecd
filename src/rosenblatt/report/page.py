"""One HTML file that needs nothing else: words, tables, pictures and their style."""

import json
from datetime import UTC, datetime
from typing import Any

from rosenblatt.report.findings import Findings
from rosenblatt.report.markup import part, templates
from rosenblatt.report.sections import (
    column_section,
    course_section,
    data_section,
    hardest_section,
    survival_section,
    test_section,
    verdict_section,
    weight_section,
)
from rosenblatt.report.summary import kind_of, summary_section
from rosenblatt.version import __version__
from rosenblatt.wording import percent, word_list


def _classes(found: Findings) -> str:
    classes = [str(label) for label in found.model.classes]
    if len(classes) > 6:
        return f"{len(classes)} classes"
    return word_list(classes, joint=" or ")


def _tiles(found: Findings) -> str:
    """Return the figures that a reader wants first."""
    model, tiles = found.model, []
    if found.judged is not None:
        tiles.append(("test error", percent(found.judged.error)))
    elif model.training.get("held_out_error") is not None:
        tiles.append(("held-out error", percent(model.training["held_out_error"])))
    if "n_rows" in model.training:
        tiles.append(("rows", f"{model.training['n_rows']:,}"))
    tiles.append(("features", f"{model.n_features:,}"))
    if model.history:
        tiles.append(("passes", f"{len(model.history):,}"))
    status = "not proved" if model.verdict is None else model.verdict["status"]
    if model.verdict is None and model.outcome.get("stop_reason") == "converged":
        status = "separable"
    tiles.append(("verdict", status))
    return part("facts", tiles, "tiles")


def _parameters(found: Findings) -> list[str]:
    """Return the parameters, so that the training can be done again."""
    given: dict[str, Any] = {"learner": found.model.learner, **found.model.options}
    options = {k: v for k, v in given.items() if v is not None}
    pairs = [(k, part("code", json.dumps(v, ensure_ascii=False))) for k, v in options.items()]
    return [part("facts", pairs)]


SECTIONS = {
    "Summary": summary_section,
    "Test": test_section,
    "Verdict": verdict_section,
    "Data": data_section,
    "Training": course_section,
    "Weights": weight_section,
    "Columns": column_section,
    "Hardest rows": hardest_section,
    "Survival": survival_section,
    "Parameters": _parameters,
}


def page(found: Findings) -> str:
    """Return the whole document."""
    template = templates().get_template("page.html")
    return template.render(
        name=found.name,
        kind=f"A {kind_of(found.model)}",
        classes=_classes(found),
        tiles=_tiles(found),
        sections={title: make(found) for title, make in SECTIONS.items()},
        day=datetime.now(UTC).date().isoformat(),
        version=__version__,
    )
