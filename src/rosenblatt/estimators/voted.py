"""The voted perceptron, by the list of its mistakes."""

from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.estimators.base import OnlineClassifier
from rosenblatt.estimators.documentation import estimator_class
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.models.model import Model
from rosenblatt.tasks.leads import winner_leads


@estimator_class()
class VotedPerceptron(OnlineClassifier):
    """The voted perceptron: every weight vector of training votes, by the rows that it survived.

    Training is the perceptron's. It leaves w₀ = 0 and a vector w_k after each update, with the
    number c_k of rows until the next one. A row x is decided by (CIML, equation 4.17)::

        sign(Σ c_k·sign(w_k·x + b_k))

    and among more than two classes each vector votes for its best one. No vector is kept but the
    updates and, once each, the rows that made them: the activations of all vectors on x are prefix
    sums of τᵢ·yᵢ·⟨xᵢ, x⟩; so K vectors cost as much as K dot products a row, whatever the number of
    classes.

    ``decision_function`` is the lead in votes, ``predict_proba`` the share of each class, or with
    ``calibrate`` its probability, and ``vote_margin`` how clear the vote is, from 0
    to 1; ``rosenblatt.guarantee`` leaves out the rows where it is not clear enough. ``coef_`` and
    ``intercept_`` are those of the average of the vectors, the one linear classifier that comes
    nearest; they do not predict.

    {parameters}

    {attributes}
    survival_
        How many rows each weight vector lasted, w₀ first: its votes.
    n_vectors_
        How many weight vectors vote: the updates, and one.

    Examples
    --------
    >>> from rosenblatt import VotedPerceptron
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> clf = VotedPerceptron(shuffle=False).fit(X, ["no", "no", "no", "yes"])
    >>> clf.predict([[1, 1]])
    array(['yes'], dtype='<U3')
    >>> clf.n_vectors_, int(clf.survival_.sum())
    (19, 36)
    >>> clf.vote_margin([[1, 1], [0, 0]])
    array([0.33333333, 1.        ])

    References
    ----------
    Y. Freund & R. Schapire, "Large margin classification using the perceptron algorithm", Machine
    Learning 37 (1999). H. Daumé III, *A Course in Machine Learning*, chapter 4.
    """

    eta0: float = 1.0
    margin: float = 0.0
    _memory = "vote"
    _gives_probabilities = True  # the shares of votes

    def vote_margin(self, X: Any) -> NDArray[Any]:
        """Return how clear each vote is: the share of the winner less that of the second, 0 to 1.

        It ranks rows by confidence; it is no probability.
        """
        return winner_leads(self.decision_function(X))

    @property
    def survival_(self) -> NDArray[Any]:
        """How many rows each weight vector lasted, w₀ first."""
        return self._votes.lifetimes

    @property
    def n_vectors_(self) -> int:
        """How many weight vectors vote."""
        return self._votes.n_vectors

    def _restore(self, model: Model) -> None:
        if model.ledger is None:
            raise InputError(f"its weights have no average, which a {type(self).__name__} keeps.")
        self._model = replace(model, machine=model.linear.growing())

    @property
    def _votes(self) -> Mistakes:
        listed: Any = self._fitted.mistakes
        return listed  # type: ignore[no-any-return]  # never None here
