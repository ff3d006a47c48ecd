"""The tables made so far, kept as JSON and as a page in a folder."""

import json
from pathlib import Path

from reproduction import TABLES
from reproduction.page import page
from reproduction.table import Table
from rosenblatt.data.atomic import replacing
from rosenblatt.errors import InputError

DOCUMENT, PAGE = "reproduction.json", "reproduction.md"


class Results:
    """Tables by name; those of earlier runs stay until they are made again."""

    def __init__(self, folder: Path, tables: dict[str, Table]) -> None:
        self.folder = folder
        self.tables = tables

    @classmethod
    def of(cls, folder: Path) -> "Results":
        """Return what a folder holds.

        Raises
        ------
        InputError
            Where there is no such folder, or its document is none of ours.
        """
        if not folder.is_dir():
            msg = f"{folder} is no folder: make it first, or name another one with -o."
            raise InputError(msg)
        path = folder / DOCUMENT
        if not path.exists():
            return cls(folder, {})
        try:
            documents = json.loads(path.read_text("utf-8"))["tables"]
            tables = [Table.from_json(document) for document in documents]
        except (ValueError, KeyError, TypeError) as error:
            msg = (
                f"{path} is not a result of rosenblatt reproduce that can be read: move it away, "
                "or name another folder with -o."
            )
            raise InputError(msg) from error
        return cls(folder, {table.name: table for table in tables})

    def keep(self, table: Table) -> None:
        """Put a table among the results, and write them."""
        self.tables[table.name] = table
        tables = sorted(self.tables.values(), key=_place)
        document = {"tables": [one.as_json() for one in tables]}
        text = json.dumps(document, ensure_ascii=False, indent=1)
        with replacing(self.folder / DOCUMENT, "w") as file:
            file.write(f"{text}\n")
        with replacing(self.folder / PAGE, "w") as file:
            file.write(page(tables))


def _place(table: Table) -> int:
    """Return where a table stands on the page; one that is no longer made stands last."""
    return TABLES.index(table.name) if table.name in TABLES else len(TABLES)
