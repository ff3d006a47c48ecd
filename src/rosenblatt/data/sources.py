"""What a user names as data: files, patterns of file names, standard input."""

import glob
from collections.abc import Sequence
from pathlib import Path

from rosenblatt.data.byte_source import unreadable
from rosenblatt.errors import InputError


def expand(paths: Sequence[str]) -> list[str]:
    """Return the files that the paths name, in their order; those of a pattern sorted by name.

    A path is a file, a pattern such as ``part-*.csv.gz`` (``**`` reaches into folders below), or
    ``-`` for standard input, which can be read only once. What exists under just the given name is
    taken for a file, whatever characters the name has.

    Raises
    ------
    InputError
        Where a file is missing, a pattern matches none, a path is a folder, or ``-`` comes twice.
    """
    if list(paths).count("-") > 1:
        msg = "Standard input (-) can be read only once; it is given more than once."
        raise InputError(msg)
    return [file for path in paths for file in _files(path)]


def _files(path: str) -> list[str]:
    if path == "-":
        return [path]
    if not path:
        msg = "The name of a file must not be empty."
        raise InputError(msg)
    place = Path(path)
    try:
        is_folder, exists = place.is_dir(), place.exists()
    except OSError as error:  # a name that is too long, a folder that may not be looked into
        raise unreadable(path, error) from None
    if is_folder:
        msg = f"{path} is a folder; name its files, for instance by '{place / '*.csv'}'."
        raise InputError(msg)
    if exists:
        return [path]
    if glob.has_magic(path):
        found = sorted(file for file in glob.glob(path, recursive=True) if Path(file).is_file())  # noqa: PTH207  # keeps the path as the user wrote it
        if not found:
            msg = f"No file matches {path}."
            raise InputError(msg)
        return found
    msg = f"There is no file {path}."
    raise InputError(msg)
