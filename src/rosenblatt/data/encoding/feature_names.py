"""What features are called."""

from collections.abc import Sequence

from rosenblatt.data.encoding.columns import FeatureColumn
from rosenblatt.data.encoding.numbering import Numbering
from rosenblatt.errors import InputError


def feature_name(index: int, columns: Sequence[FeatureColumn], numbering: Numbering) -> str:
    """Return what a feature is called.

    "age" for a number, "age is missing", "colour=red", "colour=(missing)", "review: not good" for a
    pair of words or, where the text is all there is, "not good", and "hash 17" for a hashed one.
    """
    numeric = [column.title for column in columns if column.role == "numeric"]
    n_features = len(numeric) + len(numbering)
    if not 0 <= index < n_features:
        msg = f"There is no feature {index}; they count from 0 to {n_features - 1}."
        raise InputError(msg)
    if index < len(numeric):
        return numeric[index]
    number = index - len(numeric)
    known = numbering.name(number)
    if known is None:
        return f"hash {number}"
    column, term = columns[known[0]], known[1]
    if column.role == "numeric":
        return f"{column.title} is missing"
    if column.role == "category":
        return f"{column.title}={term or '(missing)'}"
    return term if len(columns) == 1 else f"{column.title}: {term}"
