"""What can be wrong with a stored model."""

from collections.abc import Iterator
from contextlib import contextmanager

from rosenblatt.errors import InputError


class Fault(Exception):  # noqa: N818  # never seen by a user: it becomes an InputError
    """The contents do not fit together; the clause says where."""

    opening = "is not a usable model"

    def __init__(self, clause: str) -> None:
        super().__init__(clause)
        self.clause = clause

    def told(self, name: str) -> str:
        """Return the sentence for the user, about the file of this name."""
        return f"{name} {self.opening}: {self.clause}."


class Foreign(Fault):
    """Something else than a model."""

    opening = "is not a rosenblatt model"


class Damaged(Fault):
    """A model that is no longer what was written."""

    opening = "is damaged"


class Newer(Fault):
    """A model in a format that this version does not know."""

    opening = "was written by a newer version of rosenblatt"

    def told(self, name: str) -> str:
        """Return the sentence for the user, about the file of this name."""
        return f"{name} {self.opening} ({self.clause}): upgrade rosenblatt."


@contextmanager
def told_of(name: str) -> Iterator[None]:
    """Turn what is wrong with the model of this name into an InputError."""
    try:
        yield
    except Fault as fault:
        raise InputError(fault.told(name)) from None
    except RecursionError:
        raise InputError(Fault("its values are nested too deeply").told(name)) from None
    except MemoryError:
        msg = f"{name} needs more memory than there is: use a machine with more."
        raise InputError(msg) from None
