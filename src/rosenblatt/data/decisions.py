"""What was decided while files were read: said aloud, so that a wrong guess is seen."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rosenblatt.data.encoding.columns import InputColumn
from rosenblatt.data.encoding.label_column import LabelGuess
from rosenblatt.data.formats import Format
from rosenblatt.data.tables.heading import Heading
from rosenblatt.wording import word_list

NAMES_SHOWN = 8
SEPARATOR_NAMES = {"\t": "tab", " ": "blanks"}
KINDS = {"numeric": "numbers", "category": "categories", "text": "texts", "date": "dates"}


@dataclass(frozen=True)
class Decisions:
    """How files were read, and why.

    Attributes
    ----------
    format : str
        As it was said or detected.
    separator, header
        Of CSV and TSV; None for others.
    zero_based
        Of svmlight; None for others.
    label, label_reason : str
        The column of the labels; "by its name", "the last column, with 3 values", "as you said".
    kinds : dict
        The columns that are learned from, as "numeric", "category", "text" and "date".
    left_out : dict
        The columns that are not, each with the reason.
    notes : list of str
        Sentences on what a person may not know of the columns.
    weight : str
        The column of the weights of the rows.
    """

    format: str
    separator: str | None = None
    header: bool | None = None
    zero_based: bool | None = None
    label: str | None = None
    label_reason: str = ""
    kinds: dict[str, list[str]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    weight: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {
            "format": self.format,
            "separator": self.separator,
            "header": self.header,
            "zero_based": self.zero_based,
            "label": self.label,
            "label_reason": self.label_reason,
            "weight": self.weight,
            "columns": self.kinds,
            "left_out": self.left_out,
            "notes": [str(note) for note in self.notes],
        }

    def lines(self) -> list[tuple[str, str]]:
        """Return titles and words for a screen: what was read, the label, kinds, what is not used.

        >>> found = Decisions("csv", ",", True, label="kind", label_reason="by its name")
        >>> found.lines()
        [('read as', "csv, separator ',', with a header"), ('label', "'kind', by its name")]
        """
        words = [self.format]
        if self.separator is not None:
            separator = SEPARATOR_NAMES.get(self.separator, f"'{self.separator}'")
            words.append(f"separator {separator}")
        if self.header is not None:
            words.append("with a header" if self.header else "without a header")
        if self.zero_based is not None:
            words.append(f"features count from {0 if self.zero_based else 1}")
        lines = [("read as", ", ".join(words))]
        if self.label is not None:
            lines.append(("label", f"'{self.label}', {self.label_reason}"))
        if self.weight is not None:
            lines.append(("row weights", f"'{self.weight}'"))
        for kind, title in KINDS.items():
            if self.kinds.get(kind):
                names = [f"'{name}'" for name in self.kinds[kind]]
                listed = word_list(names, NAMES_SHOWN, ", ")
                lines.append((title, f"{len(names):,}: {listed}"))
        reasons: dict[str, list[str]] = {}
        for name, reason in self.left_out.items():
            reasons.setdefault(reason, []).append(f"'{name}'")
        if reasons:
            groups = [
                f"{word_list(names, NAMES_SHOWN)}: {reason}" for reason, names in reasons.items()
            ]
            lines.append(("left out", "; ".join(groups)))
        return lines


def table_decisions(
    kind: Format,
    heading: Heading | None,
    columns: Sequence[InputColumn],
    label: LabelGuess | None,
    notes: Sequence[str],
    reason: str = "as you said",
) -> Decisions:
    """Return what was decided on a table; ``reason`` is why columns without one are left out."""
    kinds: dict[str, list[str]] = {}
    for column in columns:
        if column.required:
            group = column.role if column.parts == ("",) else "date"
            kinds.setdefault(group, []).append(column.name)
    return Decisions(
        str(kind),
        None if heading is None else heading.dialect.separator,
        None if heading is None else heading.header,
        None,
        None if label is None else label.column,
        "" if label is None else label.reason,
        kinds,
        {one.name: one.reason or reason for one in columns if one.role == "ignored"},
        [*(() if heading is None else heading.notes), *notes],
        next((one.name for one in columns if one.role == "weight"), None),
    )
