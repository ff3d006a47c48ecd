"""Where a model goes if nobody says."""

from pathlib import Path, PurePath

from rosenblatt.errors import InputError

SUFFIX = ".model"


def default_model_path(data: str) -> str:
    """Return the name of the data file with another ending, in the folder of the moment.

    A file of that name is replaced if it is a model, and nothing else is.
    """
    stem = "rosenblatt" if data == "-" else PurePath(data).name.split(".")[0].strip("*?[]")
    path = f"{stem or 'rosenblatt'}{SUFFIX}"
    if Path(path).exists():
        from rosenblatt.models.file import read

        try:
            read(path)
        except InputError as error:
            msg = f"The model would go to {path}, where there is something else: name a file by -o."
            raise InputError(msg) from error
    return path
