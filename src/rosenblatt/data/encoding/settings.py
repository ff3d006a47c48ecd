"""The choices of a person on how tables are encoded."""

from typing import Any, NamedTuple

from rosenblatt.errors import InputError

MISSING_POLICIES = ("mean", "zero", "error")
MOST_HASH_BITS = 30  # indices have 32 bits, one of them a sign
MOST_FEATURES = 2**31 - 1


class Settings(NamedTuple):
    """See ``TableEncoding.from_sample`` for what they mean."""

    scale: bool
    missing: str
    hash_bits: int | None
    word_pairs: bool
    max_features: int

    @classmethod
    def checked(cls, **values: Any) -> "Settings":
        """Return settings, or raise InputError where one is not what it must be."""
        for name in ("scale", "word_pairs"):
            if not isinstance(values[name], bool):
                msg = f"{name} must be True or False; got {values[name]!r}."
                raise InputError(msg)
        if values["missing"] not in MISSING_POLICIES:
            msg = f"missing must be 'mean', 'zero' or 'error'; got {values['missing']!r}."
            raise InputError(msg)
        if values["hash_bits"] is not None:
            _check_whole("hash_bits", values["hash_bits"], MOST_HASH_BITS)
        _check_whole("max_features", values["max_features"], MOST_FEATURES)
        return cls(**values)


def _check_whole(name: str, value: Any, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        msg = f"{name} must be a whole number from 1 to {most}; got {value!r}."
        raise InputError(msg)
