"""Rows of files encoded as a model was trained on them."""

from collections.abc import Iterator, Sequence

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding import SvmlightEncoding, encoding_from
from rosenblatt.data.files import Encoding, Files, Layout, encoded
from rosenblatt.errors import InputError
from rosenblatt.models.model import Model


def model_rows(
    model: Model,
    paths: Sequence[str],
    *,
    layout: Layout | None = None,
    prompt: bool = False,
    need_labels: bool = True,
) -> Iterator[Batch]:
    """Yield the rows of files in batches, as features that the model knows.

    In them the classes of the model come first, in its order, then labels that it does not know;
    a row without a label has −1. With ``prompt`` rows come as soon as they arrive.
    """
    files = Files(paths, layout or Layout(), prompt=prompt)
    if model.encoding is None:  # saved from Python: rows there have numbered features
        zero_based = files.layout.zero_based
        if zero_based is None:
            msg = (
                "The model was saved from Python, where features count from 0, and does not know "
                "from where the file counts: say --zero-based or --one-based."
            )
            raise InputError(msg)
        encoding: Encoding = SvmlightEncoding(zero_based=zero_based, n_features=model.n_features)
    else:
        encoding = encoding_from(model.encoding, model.encoding_arrays)
    return encoded(files, encoding, model.classes, need_labels=need_labels)
