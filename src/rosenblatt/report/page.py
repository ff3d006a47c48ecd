"""One HTML file that needs nothing else: words, tables, pictures and their style."""

import json
from datetime import UTC, datetime
from importlib.resources import files

from rosenblatt import __version__
from rosenblatt.report.findings import Findings
from rosenblatt.report.markup import facts, section, text
from rosenblatt.report.sections import (
    course_section,
    data_section,
    hardest_section,
    survival_section,
    test_section,
    verdict_section,
    weight_section,
)
from rosenblatt.report.summary import summary_section
from rosenblatt.wording import percent, word_list

SECTIONS = (
    summary_section,
    test_section,
    verdict_section,
    data_section,
    course_section,
    weight_section,
    hardest_section,
    survival_section,
)


def page(found: Findings) -> str:
    """Return the whole document."""
    style = files("rosenblatt.report").joinpath("style.css").read_text(encoding="utf-8")
    body = "\n".join(part for part in (make(found) for make in SECTIONS) if part)
    title = f"{found.model.learner}: {found.name}"
    day = datetime.now(UTC).date().isoformat()
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{text(title)}</title>
<style>
{style}
</style>
</head>
<body>
<header>
<h1>{text(found.name)}</h1>
<p>{text(found.model.learner)}, {text(_classes(found))}</p>
{_tiles(found)}
</header>
<main>
{body}
{_repeat(found)}
</main>
<footer><p>Written on {day} by rosenblatt {text(__version__)}.</p></footer>
</body>
</html>
"""


def _classes(found: Findings) -> str:
    classes = [str(label) for label in found.model.classes]
    if len(classes) > 6:
        return f"{len(classes)} classes"
    return word_list(classes, joint="or")


def _tiles(found: Findings) -> str:
    """Return the figures that a reader wants first."""
    model, tiles = found.model, []
    if found.evaluation is not None and found.evaluation.error is not None:
        tiles.append(("test error", percent(found.evaluation.error)))
    if model.training.get("held_out_error") is not None:
        tiles.append(("held-out error", percent(model.training["held_out_error"])))
    if "n_rows" in model.training:
        tiles.append(("rows", f"{model.training['n_rows']:,}"))
    tiles.append(("features", f"{model.n_features:,}"))
    if model.history:
        tiles.append(("passes", f"{len(model.history):,}"))
    status = "not proved" if model.verdict is None else model.verdict["status"]
    if model.verdict is None and model.outcome.get("stop_reason") == "converged":
        status = "separable"
    tiles.append(("verdict", text(status)))
    return facts(tiles).replace('class="facts"', 'class="facts tiles"')


def _repeat(found: Findings) -> str:
    """Return the parameters, so that the training can be done again."""
    options = {k: v for k, v in found.model.options.items() if v is not None}
    pairs = [
        (name, f"<code>{text(json.dumps(value, ensure_ascii=False))}</code>")
        for name, value in options.items()
    ]
    return section("parameters", "Parameters", facts(pairs))
