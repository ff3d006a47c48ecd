"""What stands around a pass of a kernel machine: classes, states and plans from parameters."""

import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.errors import InputError
from rosenblatt.estimators.kernel_choice import (
    MACHINE_PARTS,
    check_choice,
    check_forgetron,
    kernel_of,
    limit_of,
    rule_of,
)
from rosenblatt.estimators.kernel_fitted import FittedKernelMachine
from rosenblatt.estimators.validation import row_weights
from rosenblatt.kernels.rows import Rows
from rosenblatt.models.fitting import all_known, first_classes, grown
from rosenblatt.models.parameters import check_parameters, generator_from
from rosenblatt.rules import ZERO_CONVENTIONS
from rosenblatt.training.dual.budget import BudgetPasses
from rosenblatt.training.dual.budget_state import BudgetState
from rosenblatt.training.dual.kernel import Kernel
from rosenblatt.training.dual.learning import DualLearning, State, learning_of
from rosenblatt.training.dual.sizes import sizes_within
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.examples import Examples
from rosenblatt.training.history import Outcome
from rosenblatt.training.labels import numbers_of
from rosenblatt.training.loop import Plan


class LearningKernelMachine(FittedKernelMachine):
    """All that fit and partial_fit share."""

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, self.get_params(deep=False))
        check_choice(self)

    def _check_warm(self) -> None:
        if self.kernel == "precomputed":
            msg = (
                "warm_start cannot go on with a precomputed Gram matrix, whose rows are not those "
                "of the last fit: give the kernel as a function, or fit anew."
            )
            raise InputError(msg)

    def _machine_parts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in MACHINE_PARTS}

    def _empty(self, rows: Rows, n_classes: int, generator: np.random.Generator) -> State:
        """Return the state before the first row."""
        joint, limit = self.multi_class == "joint", limit_of(self)
        if limit is None:
            return DualState(rows.shape[1], n_classes, joint)
        # From a copy, so that a budget leaves the order of the rows as it is without one.
        key = int(copy.deepcopy(generator.bit_generator).random_raw())
        return BudgetState.empty(rows.shape[1], n_classes, joint, limit, key)

    def _meet_classes(self, rows: Rows, y: NDArray[Any], named: ArrayLike | None) -> None:
        """Make sure that the state knows all these classes; start one where there is none."""
        if not hasattr(self, "_state"):
            classes = first_classes(y, named)
            check_forgetron(self, len(classes))
            generator = generator_from(self.random_state)
            self._kernel = kernel_of(self, rows)
            self._state, self.classes_ = self._empty(rows, len(classes), generator), classes
            self._made_with = self._machine_parts()
            self._keep(Outcome([], "max_iter", 0))
        elif named is not None or not all_known(y, self.classes_):
            seen = np.unique(y) if named is None else np.union1d(y, np.asarray(named))
            state: Any = self._state
            state, classes = grown(state, self.classes_, seen, rule_of(self))
            check_forgetron(self, len(classes))
            self._state, self.classes_ = state, classes

    def _examples(self, rows: Rows, y: NDArray[Any], classes: NDArray[Any]) -> Examples:
        weight = row_weights(self.class_weight, None, y, classes)
        return Examples(rows, numbers_of(y, classes), weight)

    def _learning(
        self, state: State, kernel: Kernel, examples: Examples, *, passes: int
    ) -> DualLearning | BudgetPasses:
        return learning_of(
            state,
            kernel,
            examples.rows,
            examples.targets,
            examples.weight,
            rule_of(self),
            ZERO_CONVENTIONS[self.zero],
            sizes_within(float(self.cache_size), examples.rows.shape[1]),
            passes=passes,
        )

    def _plan(self) -> Plan:
        return Plan(
            rule=rule_of(self),
            max_iter=self.max_iter,
            zero=ZERO_CONVENTIONS[self.zero],
            shuffle=self.shuffle,
            time_limit=self.time_limit,
        )

    def _keep(self, outcome: Outcome) -> None:
        self.history_ = outcome.history
        self.n_iter_ = self.best_iter_ = len(outcome.history)
        self.n_mistakes_ = sum(record.mistakes for record in outcome.history)
        self.converged_ = outcome.converged
        self.stop_reason_ = outcome.stop_reason
