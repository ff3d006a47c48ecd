"""Snapshots: model files beside the journal that make a start short. A cache: none is needed."""

import hashlib
import io
import os
import re
from contextlib import suppress
from pathlib import Path

from rosenblatt.data.atomic import replacing
from rosenblatt.errors import InputError, RosenblattError
from rosenblatt.models.file import read_from, write_to
from rosenblatt.models.model import Model
from rosenblatt.models.tensors import input_errors
from rosenblatt.service.journal import SNAPSHOTS

PATTERN = re.compile(r"(\d+)-(\d+)-([0-9a-f]{64})\.model")  # model, version, SHA-256 of the file
KEPT = 2  # of each model: the one before the last costs little, if the last is torn


class Snapshots:
    """The folder of snapshots. Their names are numbers, never the names of models."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / SNAPSHOTS
        self._folder.mkdir(0o700, exist_ok=True)

    def write(self, model: int, version: int, file: bytes) -> None:
        """Write a snapshot, whole or not at all, and remove old ones of the model."""
        digest = hashlib.sha256(file).hexdigest()
        path = self._folder / f"{model}-{version}-{digest}.model"
        try:
            with replacing(path) as target:
                if hasattr(os, "fchmod"):
                    os.fchmod(target.fileno(), 0o600)
                target.write(file)
        except InputError:  # a full disk: the journal says so when it matters
            return
        for _, old in self._of(model)[KEPT:]:
            old.unlink(missing_ok=True)

    def newest(self, model: int, upto: int, after: int) -> tuple[int, Model] | None:
        """Return the newest snapshot that is whole: its version and its model."""
        for version, path in self._of(model):
            if after < version <= upto:
                with suppress(OSError, RosenblattError):
                    file = path.read_bytes()
                    if hashlib.sha256(file).hexdigest() == path.stem.rpartition("-")[2]:
                        return version, model_from(file)
        return None

    def remove_outside(self, model: int, oldest: int = 0, newest: int = -1) -> None:
        """Remove snapshots of a model that are forgotten, or not in the journal; all by default."""
        for version, path in self._of(model):
            if not oldest <= version <= newest:
                path.unlink(missing_ok=True)

    def version(self, model: int) -> int:
        """Return the version of the newest snapshot, 0 without one."""
        return max((version for version, _ in self._of(model)), default=0)

    def remove_others(self, models: set[int]) -> None:
        """Remove the snapshots of all models but these."""
        for match, path in self._matches():
            if int(match[1]) not in models:
                path.unlink(missing_ok=True)

    def _matches(self) -> list[tuple[re.Match[str], Path]]:
        found = [(PATTERN.fullmatch(path.name), path) for path in self._folder.iterdir()]
        return [(match, path) for match, path in found if match is not None]

    def _of(self, model: int) -> list[tuple[int, Path]]:
        """Return versions and paths of a model, the newest first."""
        own = [(int(match[2]), path) for match, path in self._matches() if int(match[1]) == model]
        return sorted(own, reverse=True)


def file_of(model: Model | None) -> bytes | None:
    """Return a model as the bytes of its file."""
    if model is None:
        return None
    target = io.BytesIO()
    with input_errors("The model"):
        write_to(target, model)
    return target.getvalue()


def model_from(file: bytes) -> Model:
    """Return the model of the bytes of a file, or raise InputError."""
    with input_errors("The model file"):
        return read_from(io.BytesIO(file), len(file))
