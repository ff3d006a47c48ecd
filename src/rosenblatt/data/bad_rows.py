"""Rows that cannot be read: an error at the first one, or left out, counted and shown.

Rows without a label are left out and counted in any case.
"""

from collections.abc import Iterable
from threading import Lock
from typing import Any, NamedTuple

from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.wording import counted, word_list

MOST_SHOWN = 10  # of the bad rows that are kept with their reasons
OFTEN_ENOUGH = 10_000  # rows, from where on a share means something while reading goes on


class BadRow(NamedTuple):
    """A row that was left out."""

    before: int  # the row of its table or batch before which it stood
    place: str  # file and line
    reason: str  # a clause; "" for a row that only lacks a label

    def sentence(self) -> Sentence:
        """Return where it stood and what is wrong with it."""
        return Sentence(f"{self.place}: ", self.reason, ".")


class BadRows:
    """Counts the rows that are read and those that are left out.

    Without ``skip`` the first bad row is an error, else more than ``max_share`` of all rows and
    more than one.
    """

    def __init__(self, *, skip: bool, max_share: float = 0.01) -> None:
        self.skip = skip
        self.max_share = max_share
        self.n_good = 0
        self.n_bad = 0
        self.n_unlabelled = 0
        self.first: list[BadRow] = []
        self._late_keys: dict[str, None] = {}
        self._lock = Lock()  # rows are read by one thread and encoded by others

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process is told: all but the lock."""
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())

    def restart(self) -> None:
        """Count from the start, since the rows are read anew."""
        self.n_good = self.n_bad = self.n_unlabelled = 0
        self.first.clear()

    def add(self, rows: Iterable[BadRow]) -> None:
        """Count rows that were left out."""
        with self._lock:
            for row in rows:
                if not row.reason:
                    self.n_unlabelled += 1
                    continue
                self.n_bad += 1
                if len(self.first) < MOST_SHOWN:
                    self.first.append(row)

    def pass_by(self, n_rows: int) -> None:
        """Count rows that are good; raise InputError where too many of all were not."""
        self.n_good += n_rows
        if self.n_good + self.n_bad >= OFTEN_ENOUGH:
            self.check()

    def check(self) -> None:
        """Raise InputError where too many rows are bad, or none has a label."""
        n_rows = self.n_good + self.n_bad
        if self.n_unlabelled and not n_rows:
            msg = Sentence(f"No row has a label; name another column with {Parameter('label')}.")
            raise InputError(msg)
        if self.n_bad > max(1, self.max_share * n_rows):
            msg = Sentence(
                f"{self.n_bad:,} of {n_rows:,} rows cannot be read, more than "
                f"{100 * self.max_share:g} %. The first: ",
                self.first[0].sentence(),
                f" Allow more with {Parameter('max_bad_share')}.",
            )
            raise InputError(msg)

    def leave_out(self, keys: Iterable[str]) -> None:
        """Note keys of objects that came too late to be columns."""
        with self._lock:
            self._late_keys |= dict.fromkeys(keys)

    def notes(self) -> list[str]:
        """Return sentences on rows without a label and on keys that came late."""
        notes = []
        if self.n_unlabelled:
            notes.append(f"{counted(self.n_unlabelled, 'row')} without a label skipped.")
        if self._late_keys:
            keys = word_list(map(repr, self._late_keys))
            notes.append(
                f"Left out {keys}: in none of the first rows, which decide on the columns. Put a"
                " row with all keys first."
            )
        return notes

    def as_json(self) -> dict[str, Any]:
        """Return how many rows were left out, and the first of them."""
        return {
            "count": self.n_bad,
            "without_label": self.n_unlabelled,
            "first": [{"place": row.place, "reason": str(row.reason)} for row in self.first],
        }


def refuse_unless_skipped(row: BadRow, bad_rows: BadRows | None) -> None:
    """Raise InputError for a bad row unless bad rows are skipped."""
    if bad_rows is None:
        raise InputError(row.sentence()) from None
    if not bad_rows.skip:
        advice = f" Leave such rows out with {Parameter('bad_rows', 'skip')}."
        raise InputError(Sentence(row.sentence(), advice)) from None
