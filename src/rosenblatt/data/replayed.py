"""Streams that were looked at and can't be wound back: they give the bytes a second time."""

from typing import Any


class Replayed:
    """A raw stream, such as a pipe, that keeps what is read from it until ``restart``."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self._kept = bytearray()
        self._place = 0  # in what is kept; beyond its end the stream itself is read
        self._keeps = True

    def readinto(self, view: memoryview) -> int | None:
        """Fill the view as far as one read does, first with what is given again."""
        if self._place < len(self._kept):
            piece = self._kept[self._place : self._place + len(view)]
            view[: len(piece)] = piece
            self._place += len(piece)
            return len(piece)
        count: int | None = self.raw.readinto(view)
        if self._keeps and count:
            self._kept += view[:count]
            self._place += count
        return count

    def restart(self, *, keep: bool) -> None:
        """Give everything again from the first byte on; keep what follows only if it is said."""
        self._place = 0
        self._keeps = keep

    def close(self) -> None:
        """Close the stream below."""
        self.raw.close()
