"""The report as a model card in Markdown: words and tables, for a repository or a hub."""

from collections.abc import Iterator, Sequence

from rosenblatt.report.findings import Findings
from rosenblatt.report.markup import file_names
from rosenblatt.report.tables import (
    bias_sentence,
    confusion_list,
    ranking_list,
    weight_tables,
)
from rosenblatt.tasks.evaluation import TableParts
from rosenblatt.tasks.held_out_fits import TriedRows
from rosenblatt.version import __version__
from rosenblatt.wording import Bar, Cell, counted, number, printable, word_list

MOST_RANKED = 3  # classes with tables of their own; of more a line each
MOST_CONFUSIONS = 10
IN_LINE = 8  # names in such a line


def card(found: Findings) -> str:
    """Return the document."""
    sections = {
        "Intended use": _use(found),
        "How good it is": _quality(found),
        "What to know": _warnings(found),
        "Training data": _data(found),
        "What decides": _weights(found),
        "Parameters": _parameters(found),
    }
    text = f"# {escaped(found.name)}\n"
    for title, parts in sections.items():
        body = "\n\n".join(filter(None, parts))
        text += f"\n## {title}\n\n{body}\n" if body else ""
    return f"{text}\nWritten by rosenblatt {__version__}.\n"


def _use(found: Findings) -> Iterator[str]:
    model = found.model
    classes = word_list(map(str, model.classes), 6)
    n = counted(len(model.classes), model.task.noun)
    yield f"A {model.kind} that gives a row {model.task.gives} {n}: {escaped(classes)}."
    if model.table is not None:
        names = word_list((column.name for column in model.table.columns), 12)
        yield f"Columns: {escaped(names)}."
    yield "Who uses it has to write here: for whom it is, and what it must not decide."


def _quality(found: Findings) -> Iterator[str]:
    model, judged = found.model, found.judged
    counts = model.training.get("class_counts")
    if judged is not None:
        source = file_names(found.test_names) if found.test_names else "test data"
        lines = *judged.test_summary(source, counts), judged.in_words()
        yield "\n".join(escaped(line.strip()) for line in lines if line)
        yield markdown_table(judged.table())
        yield markdown_table(confusion_list(judged, MOST_CONFUSIONS))
        return
    tried = TriedRows.told(model.training)
    line = None
    if counts is not None:
        line = model.task.tried_line(tried, counts, model.classes, "")
    if line is None:
        yield "Unknown: there were no test rows."
    else:
        yield f"{escaped(line.rstrip('.'))}. These rows chose among models: new data may do worse."


def _warnings(found: Findings) -> Iterator[str]:
    for told in (*found.warnings, *found.model.training.get("notes", ())):
        yield f"- {escaped(str(told))}"


def _data(found: Findings) -> Iterator[str]:
    model, training = found.model, found.model.training
    rows = f"{counted(training['n_rows'], 'row')}, " if "n_rows" in training else ""
    files = f" Files: {escaped(file_names(training['files']))}." if "files" in training else ""
    yield f"{rows}{counted(model.n_features, 'feature')}.{files}"
    counts = training.get("class_counts")
    if counts is not None:
        pairs = sorted(zip(model.classes, counts, strict=True), key=lambda pair: -pair[1])
        lines: list[list[Cell]] = [[str(label), n] for label, n in pairs[:20]]
        yield markdown_table(((model.task.noun, "rows"), lines, ""))


def _weights(found: Findings) -> Iterator[str]:
    if len(found.rankings) > MOST_RANKED:
        noun = found.model.task.noun
        yield markdown_table(ranking_list(found.rankings, IN_LINE, noun, by_effect=found.by_effect))
        return
    for ranking in found.rankings:
        yield f"{escaped(bias_sentence(ranking, found.model.task.noun))}."
        for made in weight_tables(ranking, by_effect=found.by_effect):
            yield markdown_table(made)


def _parameters(found: Findings) -> Iterator[str]:
    options = found.model.options.items()
    given = "".join(f", `{name}={value!r}`" for name, value in options if value is not None)
    yield f"`{found.model.learner}`{given}"


def markdown_table(parts: TableParts) -> str:
    """Return a table in Markdown, without bars; nothing for one without rows."""
    headings, rows, title = parts
    kept = [k for k, heading in enumerate(headings) if heading]
    if not rows:
        return ""
    right = [any(isinstance(row[k], int) for row in rows) for k in kept]
    lines = [
        [headings[k] for k in kept],
        ["---:" if number_ else "---" for number_ in right],
        *([_cell(row[k]) for k in kept] for row in rows),
    ]
    said = f"{escaped(title)}\n\n" if title else ""
    return said + "\n".join(_line(line) for line in lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    if isinstance(cell, Bar):
        return ""
    return escaped(cell) if isinstance(cell, str) else number(cell)


def escaped(text: str) -> str:
    r"""Return text that Markdown shows as it is.

    >>> escaped("a|b *c* <d>")
    'a\\|b \\*c\\* \\<d>'
    """
    return "".join(f"\\{c}" if c in "\\`*_[]<|#" else c for c in printable(text))
