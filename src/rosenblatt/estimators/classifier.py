"""What ``rosenblatt train`` does with a file, done with rows in memory: an estimator."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from rosenblatt.data.files import Files, Layout
from rosenblatt.data.polars import pl
from rosenblatt.data.tables.frames import frame_tables, has_names
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError
from rosenblatt.estimators.documentation import PARAMETERS, estimator_class
from rosenblatt.estimators.scikit import BaseEstimator, ClassifierMixin
from rosenblatt.estimators.storage import load
from rosenblatt.models.model import Model
from rosenblatt.models.train import trained_model
from rosenblatt.parameters import SETTINGS, Names

FEWEST_ROWS = 50  # with fewer no probabilities are fitted by default
ROLES = ("text", "category", "numeric", "ignore")
TEXT = "text"  # the column of texts that stand alone
CLASSIFIER_PARAMETERS = PARAMETERS | {name: one.text for name, one in SETTINGS.items()}
CLASSIFIER_PARAMETERS["calibrate"] = (
    "Fit probabilities to held-out rows, for ``predict_proba``; not to fewer than 50 rows."
)


@estimator_class(CLASSIFIER_PARAMETERS)
class Classifier(ClassifierMixin, BaseEstimator):
    """Learn from a data frame as ``rosenblatt train`` does from a file.

    What each column is, is decided by its values; recipes are raced on held-out rows; the best
    learns from all rows. What you say decides its part, as the options of the command do.

    {parameters}

    Attributes
    ----------
    model_
        The fitted ``Model``; ``model_.training`` says what was decided, and why.
    classes_
        Sorted labels.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from rosenblatt import Classifier
    >>> rows = [{"age": 20 + k % 40, "city": "Rome" if k % 3 else "Oslo"} for k in range(240)]
    >>> labels = ["old" if row["age"] > 40 else "young" for row in rows]
    >>> clf = Classifier().fit(rows, labels)
    >>> clf.predict([{"age": 25, "city": "Rome"}, {"age": 55, "city": "Oslo"}]).tolist()
    ['young', 'old']
    """

    text: Names = ()
    category: Names = ()
    numeric: Names = ()
    ignore: Names = ()
    bins: int | None = None
    form: str | None = None
    column_pairs: int | Names | None = None
    words: bool | None = None
    char_ngrams: tuple[int, int] | None = None
    hash_bits: int | None = None
    rule: str | None = None
    max_iter: int | None = None
    class_weight: Any = None
    threshold: Any = None
    calibrate: bool | str = True
    recipe: str = "auto"
    metric: str = "error"
    random_state: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from rows and their labels.

        Parameters
        ----------
        X : data frame of pandas, polars or Arrow, list of dictionaries or of texts, or array
        y : sequence of labels
            Texts, whole numbers or truth values.
        sample_weight : sequence of numbers, default None
            Multiplies the step of each row.
        groups : sequence, default None
            Rows of equal value are held out together, or not.
        """
        tables, alone = _tables_of(X)
        if not tables:
            raise InputError("X has no rows.")
        names = list(tables[0].frame.columns)
        beside = {"label": _labels(y), "weight": sample_weight, "group": groups}
        given = self.get_params(deep=False) | ({"text": [TEXT]} if alone else {})
        columns = dict[str, Any]()
        for role, values in beside.items():
            if values is not None:
                given[role] = _new_name(role, [*names, *columns])
                columns[given[role]] = values
        n_rows = sum(table.frame.height for table in tables)
        if n_rows < FEWEST_ROWS and given["calibrate"] is True:
            given["calibrate"] = False  # too few are held out
        for name, values in columns.items():
            if len(values) != n_rows:
                raise InputError(f"X has {n_rows:,} rows, and {name} has {len(values):,} values.")
        files = Files.held(_with_columns(tables, columns), Layout())
        model = trained_model(files, given, None)
        return self._become(model, np.unique(np.asarray(y)), names, named=has_names(X))

    @property
    def encoding_(self) -> Any:
        """What makes features of the columns."""
        return self.model_.encoder

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the score of each row, or one for each class."""
        check_is_fitted(self)
        scores: NDArray[Any] = self._own.decision_function(_rows_of(X))
        if scores.ndim == 1:
            return scores if self._order[0] == 0 else -scores
        return scores[:, self._order]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row."""
        check_is_fitted(self)
        places = np.searchsorted(self._own.classes_, self._own.predict(_rows_of(X)))
        labels: NDArray[Any] = self.classes_[np.argsort(self._order)[places]]
        return labels

    @property
    def predict_proba(self) -> Callable[[Any], NDArray[Any]]:
        """Return the probability of each class on each row, (n_rows, n_classes).

        Raises
        ------
        AttributeError
            Where no probabilities were fitted.
        """
        fitted = vars(self).get("_own")
        if not (self.calibrate if fitted is None else fitted.model_.has_probabilities):
            raise AttributeError(
                "This Classifier has no probabilities: fit it with calibrate=True."
            )
        return self._probabilities

    def _probabilities(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        probabilities: NDArray[Any] = self._own.predict_proba(_rows_of(X))
        return probabilities[:, self._order]

    def explain(self, X: Any, **how: Any) -> Any:
        """Return what the scores of rows are made of, as ``rosenblatt.explain`` does."""
        check_is_fitted(self)
        return self.model_.explain(X, **how)

    def save(self, path: Any) -> None:
        """Write the model file, which ``rosenblatt.load`` and all commands read."""
        check_is_fitted(self)
        self.model_.save(path)

    @classmethod
    def of_columns(cls, model: Model) -> Self:
        r"""Return a classifier that reads columns as a model does, and is not fitted.

        >>> from pathlib import Path
        >>> from sklearn.base import clone
        >>> from rosenblatt import train_files
        >>> lines = [f"spam,buy {k} now\nham,see you at {k}\n" for k in range(60)]
        >>> _ = Path("mail.csv").write_text("label,body\n" + "".join(lines))
        >>> clone(train_files("mail.csv"))
        Classifier(calibrate=False, text=['body'])
        """
        table = model.table
        if table is None:
            raise InputError("Classifier takes models of columns; load takes all others.")
        roles: dict[str, Any] = {}
        for column in table.columns:
            role = "ignore" if column.role == "ignored" else column.role
            if role in ROLES and column.parts == ("",) and not column.form:
                roles.setdefault(role, []).append(column.name)
        return cls(calibrate=model.has_probabilities, **roles)

    @classmethod
    def of_model(cls, model: "Model | str") -> Self:
        """Return the classifier of a model of columns or of its file, fitted as it was."""
        model = model if isinstance(model, Model) else Model.load(model)
        found = cls.of_columns(model)
        columns = model.table.columns if model.table is not None else ()
        names = [column.name for column in columns if column.required]
        return found._become(model, model.labels, names, named=True)  # noqa: SLF001  # ours

    def _become(
        self, model: Model, classes: NDArray[Any], names: Sequence[str], *, named: bool
    ) -> Self:
        """Become fitted by a model of these columns, whose classes come back as these."""
        self.model_, self.classes_, self.n_features_in_ = model, classes, len(names)
        self.__dict__.pop("feature_names_in_", None)
        if named:
            self.feature_names_in_ = np.array(names, object)
        self._own = load(model)
        known = {_text(label): place for place, label in enumerate(self._own.classes_.tolist())}
        self._order = np.array([known[_text(label)] for label in classes.tolist()])
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def _tables_of(X: Any) -> tuple[list[Table], bool]:
    """Return rows in memory as tables, and whether they are texts alone."""
    shape = getattr(X, "shape", None)
    alone = not has_names(X) and (len(shape) == 1 if shape is not None else _are_texts(X))
    return [*frame_tables(_rows_of(X), text=TEXT if alone else None, arrays=True)], alone


def _are_texts(X: Any) -> bool:
    return isinstance(X, Sequence) and any(isinstance(one, str) for one in X[:1])


def _rows_of(X: Any) -> Any:
    """Return rows, those that are lists of numbers or only act as an array as an array."""
    if sparse.issparse(X):
        msg = (
            "Classifier takes columns; sparse data go to the other classifiers, or use X.toarray()."
        )
        raise InputError(msg)
    plain = has_names(X) or _are_texts(X) or hasattr(X, "iloc") or isinstance(X, pl.Series)
    return X if plain else np.asarray(X)


def _text(label: Any) -> str:
    """Return a label as a file has it."""
    whole = isinstance(label, float) and label.is_integer()
    return str(int(label) if whole else label)


def _labels(y: Any) -> list[str | None]:
    """Return labels as a file has them; None where one is missing."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise InputError(f"y must have one dimension; it has the shape {labels.shape}.")
    return [
        None if one is None or one != one else _text(one)  # noqa: PLR0124  # NaN is not itself
        for one in labels.tolist()
    ]


def _new_name(name: str, names: Sequence[str]) -> str:
    while name in names:
        name += "_"
    return name


def _with_columns(tables: Sequence[Table], columns: dict[str, Any]) -> list[Table]:
    """Return tables with further columns."""
    found, start = [], 0
    whole = pl.DataFrame({name: pl.Series(name, [*values]) for name, values in columns.items()})
    for table in tables:
        part = whole[start : start + table.frame.height]
        found.append(table._replace(frame=table.frame.hstack(part)))
        start += table.frame.height
    return found
