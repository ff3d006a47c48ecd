"""The lab as a widget of a notebook."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.lab.columns import view_of
from rosenblatt.lab.document import MOST_POINTS, Document
from rosenblatt.lab.page import module_text, style_text
from rosenblatt.lab.still import still_picture, still_sentence
from rosenblatt.lab.toy_sets import toy_set
from rosenblatt.lazy import installing

try:
    import anywidget
    import traitlets
except ImportError:  # pragma: no cover
    _MISSING = f"The widget needs anywidget: {installing('notebook')}"
    raise InputError(_MISSING) from None


class Lab(anywidget.AnyWidget):
    """The lab in a notebook: put points, choose a rule, and step through the training.

    Parameters
    ----------
    X : array of shape (n_rows, 2), default None
        Points to begin with, at most 500; without them those of ``toy``.
    y : array of shape (n_rows,), default None
        Their labels, of two values; the second in sorted order is the positive one.
    toy : str, default "separable"
        "separable", "xor", "circles", "overlapping" or "sorted labels".
    **settings : str, number or bool
        Parts of the document: ``rule``, ``eta0``, ``C``, ``margin``, ``r``, ``confidence``,
        ``memory``, ``order``, ``second_order``, ``seed``, ``zero``, ``bias``, ``start``, ``map``,
        ``kernel``, ``degree``, ``gamma``, ``coef0``, ``max_iter``, ``held_out``, ``names``,
        ``labels``, ``view``.

    Attributes
    ----------
    document : dict
        What the page shows, as plain values. It follows what a person does, and may be set.

    Examples
    --------
    >>> from rosenblatt.lab import Lab
    >>> lab = Lab([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"], rule="pa1", C=0.5)
    >>> lab.X.shape, lab.y.tolist(), lab.document["labels"]
    ((4, 2), ['no', 'no', 'no', 'yes'], ['no', 'yes'])
    """

    _esm = module_text()
    _css = style_text()

    document = traitlets.Dict().tag(sync=True)

    def __init__(
        self, X: Any = None, y: Any = None, *, toy: str = "separable", **settings: Any
    ) -> None:
        begun = toy_set(toy) if X is None else document_of(X, y)
        given = Document.from_plain({**begun.plain(), **settings})
        super().__init__(document=given.plain())

    @traitlets.validate("document")
    def _check(self, proposal: Any) -> dict[str, Any]:
        return Document.from_plain(proposal["value"]).plain()

    def __repr__(self) -> str:
        return f"<{still_sentence(Document.from_plain(self.document))}>"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the widget with a still picture, which is shown where widgets do not run."""
        shown = super()._repr_mimebundle_(**kwargs)
        if shown is None:
            return None
        data, metadata = shown
        picture = still_picture(Document.from_plain(self.document))
        return {**data, "image/svg+xml": picture}, metadata

    @property
    def X(self) -> NDArray[Any]:  # noqa: N802  # as everywhere
        """The coordinates of the points as they are now, (n, 2)."""
        return Document.from_plain(self.document).X

    @property
    def y(self) -> NDArray[Any]:
        """The label of each point as it is now."""
        document = Document.from_plain(self.document)
        return np.array([document.labels[int(side > 0)] for side in document.y])


def document_of(X: Any, y: Any) -> Document:
    """Return points given as arrays as a document."""
    places = np.asarray(X, np.float64)
    if places.ndim != 2 or places.shape[1] != 2 or not 1 <= len(places) <= MOST_POINTS:
        msg = f"X must have the shape (n, 2) with n from 1 to {MOST_POINTS}; got {places.shape}."
        raise InputError(msg)
    labels: NDArray[Any] = np.asarray(y)
    classes = np.unique(labels).tolist()
    if labels.shape != (len(places),) or len(classes) != 2:
        msg = f"y must have one label for each of the {len(places)} rows of X, and two values."
        raise InputError(msg)
    sides = np.where(labels == classes[1], 1, -1).tolist()
    given = {
        "points": [[*place, side] for place, side in zip(places.tolist(), sides, strict=True)],
        "labels": [str(label) for label in classes],
    }
    return replace(Document.from_plain(given), view=view_of(places))
