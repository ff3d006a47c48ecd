"""Which classes are taken for which."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.plots.display import Axes, Display, label_text, titled
from rosenblatt.plots.palette import INK
from rosenblatt.plots.subject import rows_of_estimator
from rosenblatt.wording import counted

MOST_CLASSES = 40  # that can be told apart in a picture
MOST_NUMBERED = 20  # of which the counts are written into the cells


@dataclass
class ConfusionDisplay(Display):
    """How many rows of each class are predicted as each class.

    Attributes
    ----------
    counts : array of shape (n_classes, n_classes)
        A line for each true class, a column for each predicted one.
    classes : list of str
        Their labels.
    image_ : what ``plot`` drew
    """

    counts: NDArray[Any]
    classes: list[str]
    title: str

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of a figure of its own, in inches."""
        side = 3.2 + 0.42 * min(len(self.classes), 24)
        return (side + 1.4, side)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        """Evaluate on the rows X with labels y, preferably not training rows."""
        rows = rows_of_estimator(estimator, X, y)
        guess = np.searchsorted(rows.classes, np.asarray(estimator.predict(X)))
        counts = np.zeros((len(rows.classes), len(rows.classes)), np.int64)
        np.add.at(counts, (rows.numbers, guess), 1)
        return cls.from_counts(counts, rows.classes.tolist(), title=type(estimator).__name__)

    @classmethod
    def from_counts(cls, counts: Any, classes: Any, *, title: str = "") -> Self:
        """Draw from a table of counts: a line for each true class, a column for each prediction.

        >>> from rosenblatt.plots import ConfusionDisplay
        >>> display = ConfusionDisplay.from_counts([[8, 2], [1, 9]], ["ham", "spam"])
        >>> display.sentence
        '3 of 20 rows are wrong; most often ham is predicted as spam, 2 times.'
        """
        table, labels = np.asarray(counts), [str(label) for label in classes]
        if table.shape != (len(labels), len(labels)):
            msg = f"counts must be a square of {len(labels)} classes; got shape {table.shape}."
            raise InputError(msg)
        if len(labels) > MOST_CLASSES:
            raise InputError(
                f"The picture shows at most {MOST_CLASSES} classes; there are {len(labels)}. "
                "evaluate lists the most frequent confusions."
            )
        return cls(table, labels, title)

    def _sentence(self) -> str:
        wrong = self.counts - np.diag(np.diagonal(self.counts))
        text = f"{wrong.sum():,} of {self.counts.sum():,} rows are wrong"
        if wrong.any():
            true, guess = np.unravel_index(int(wrong.argmax()), wrong.shape)
            pair = f"{self.classes[true]} is predicted as {self.classes[guess]}"
            text += f"; most often {pair}, {counted(int(wrong.max()), 'time')}"
        return f"{text}."

    def _draw(self, ax: Axes) -> None:
        shares = self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        self.image_ = ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
        names = [label_text(label) for label in self.classes]
        places = range(len(names))
        steep = 45 if max(map(len, names)) > 4 and len(names) > 2 else 0
        ax.set_xticks(places, names, rotation=steep, ha="right" if steep else "center")
        ax.set_yticks(places, names)
        ax.set_xlabel("predicted class")
        ax.set_ylabel("true class")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        if len(names) <= MOST_NUMBERED:
            for (i, j), count in np.ndenumerate(self.counts):
                colour = "white" if shares[i, j] > 0.55 else INK
                ax.text(j, i, f"{count:,}", ha="center", va="center", color=colour, fontsize=9)
        bar = ax.figure.colorbar(self.image_, ax=ax, format=lambda share, _: f"{share:.0%}")
        bar.set_label("share of the true class")
        bar.outline.set_visible(False)
        self._finish(titled(self.title, "rows by true and predicted class"))
