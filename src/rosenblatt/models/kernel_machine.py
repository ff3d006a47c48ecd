"""Kernel machines: what their parameters make, how rows of files train one, and its scores."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.rows import Rows
from rosenblatt.mistakes.gram import sizes_within
from rosenblatt.mistakes.kernel import Kernel, scale_gamma
from rosenblatt.mistakes.machine import DualState
from rosenblatt.mistakes.machine_arrays import machine_arrays, read_machine
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.models.held_out import few_held_out
from rosenblatt.models.learner import SHARED, Learner
from rosenblatt.models.learner_record import LearnerRecord
from rosenblatt.models.model import Model
from rosenblatt.models.record import Record, facts_of
from rosenblatt.models.rows import MOST_DENSE_COLUMNS, FileRows
from rosenblatt.models.weights import Weights
from rosenblatt.parameters import check_parameters
from rosenblatt.rules import additive_rules, rule_parameters
from rosenblatt.tasks import CLASSES, Task, task_of
from rosenblatt.tasks.held_out_fits import TriedRows
from rosenblatt.training.examples import Examples
from rosenblatt.training.history import ENDED_EARLY, Observer, Outcome
from rosenblatt.training.kernel import KernelTraining
from rosenblatt.training.loop import Plan, train
from rosenblatt.wording import word_list

if TYPE_CHECKING:
    from rosenblatt.models.train import TrainingPlan

KERNEL_LEARNER = "KernelPerceptron"
MACHINE_PARTS = (  # the parameters of the estimator that say what a machine is
    *("kernel", "degree", "gamma", "coef0", "fit_intercept", "multi_class"),
    *("memory", "cache_size"),
)
FILE_KERNELS = ("rbf", "poly")


@dataclass
class KernelMachine:
    """What predicts by kernel values: a list of mistakes, the kernel, and which vectors decide."""

    dual: DualState
    kernel: Kernel
    memory: str
    cache_size: float  # MB of kernel values

    by_vote: ClassVar[bool] = False  # its shares of votes are no probabilities
    kind: ClassVar[str] = "kernel model"

    @classmethod
    def empty(cls, parameters: Any, rows: Rows, n_classes: int) -> "KernelMachine":
        """Return the machine of an estimator's parameters before the first of these rows."""
        gamma = parameters.gamma
        if gamma == "scale":
            gamma = scale_gamma(rows) if parameters.kernel in {"poly", "rbf"} else 1.0
        elif gamma == "auto":
            gamma = 1.0 / max(rows.shape[1], 1)
        return cls._with(parameters, float(gamma), rows.shape[1], n_classes)

    @classmethod
    def stored(
        cls,
        options: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        n_features: int,
        n_classes: int,
        count: int,
    ) -> "KernelMachine":
        """Return the machine of a file with these parameters; raise InputError for damage."""
        missing = {*MACHINE_PARTS} - options.keys()
        if missing:
            raise InputError(f"it does not say the {min(missing)} of its machine.")
        own = {name: options[name] for name in MACHINE_PARTS}
        check_parameters(KERNEL_LEARNER, own)
        empty = cls._with(SimpleNamespace(**own), 1.0, n_features, n_classes)
        dual, kernel = read_machine(arrays, empty.kernel, empty.dual, count)
        return replace(empty, dual=dual, kernel=kernel)

    @classmethod
    def _with(
        cls, parameters: Any, gamma: float, n_features: int, n_classes: int
    ) -> "KernelMachine":
        """Return a machine without rows, for this γ; a bias adds 1 to every kernel value."""
        numbers = float(parameters.coef0), int(parameters.degree)
        kernel = Kernel(parameters.kernel, gamma, *numbers, float(bool(parameters.fit_intercept)))
        dual = DualState(n_features, n_classes, parameters.multi_class == "joint")
        return cls(dual, kernel, parameters.memory, float(parameters.cache_size))

    @property
    def linear(self) -> Weights:
        """Nothing: raises InputError, for there are no weights."""
        raise InputError(
            f"A {KERNEL_LEARNER} has no weights: it predicts by kernel values, and does so with "
            "predict and evaluate alone."
        )

    @property
    def task(self) -> Task:
        """What an answer is."""
        return task_of(CLASSES, self.dual.n_classes)

    @property
    def count(self) -> int:
        """Algorithm 7's c: one more than the rows seen."""
        return self.dual.count

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.dual.n_features

    @property
    def mistakes(self) -> Mistakes:
        """The updates, with the rows that made them."""
        return self.dual.mistakes

    @property
    def vectors(self) -> dict[str, NDArray[Any]]:
        """What a file has for each weight: zeros."""
        return {"weights": np.zeros((self.dual.n_columns, self.n_features + 1))}

    @property
    def stored_vectors(self) -> dict[str, NDArray[Any]]:
        """The same."""
        return self.vectors

    @property
    def kinds(self) -> frozenset[str]:
        """What a file has for each weight: names."""
        return frozenset(["weights"])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what a file holds of it."""
        return machine_arrays(self.dual, self.kernel)

    def scores(self, rows: Rows, *, positive: bool = False) -> NDArray[Any]:
        """Return what rows of features score: (n,) for two classes, else (n, K)."""
        if self.kernel.name == "precomputed":
            raise InputError(
                'The model was trained with kernel="precomputed", on kernel values that were '
                "computed elsewhere: load it in Python with rosenblatt.load to predict from such "
                "values."
            )
        return self.scores_by((self.memory,), rows, positive=positive)[self.memory]

    def scores_by(
        self, memories: tuple[str, ...], rows: Rows, *, positive: bool = False
    ) -> dict[str, NDArray[Any]]:
        """Return what rows score by each memory, from one evaluation of the kernel."""
        sizes = sizes_within(self.cache_size, rows.shape[1])
        found = self.dual.scores(self.kernel, rows, sizes, memories, positive=positive)
        return {
            memory: scores[0] if self.dual.n_classes == 2 else np.ascontiguousarray(scores.T)
            for memory, scores in found.items()
        }

    def training(
        self, examples: Examples, plan: Plan, generator: "np.random.Generator"
    ) -> KernelTraining:
        """Return what passes over rows, whose targets are class numbers, add to the list."""
        sizes = sizes_within(self.cache_size, examples.rows.shape[1])
        return KernelTraining(self.dual, self.kernel, examples, plan, sizes, generator, self.memory)

    def fit(
        self,
        examples: Examples,
        plan: Plan,
        generator: "np.random.Generator",
        observers: Sequence[Observer] = (),
    ) -> tuple[KernelTraining, Outcome]:
        """Learn by passes over rows."""
        training = self.training(examples, plan, generator)
        outcome = train(training, plan, observers)
        training.finish()
        return training, outcome

    def copy(self) -> "KernelMachine":
        """Return a machine of its own memory."""
        return replace(self, dual=deepcopy(self.dual))

    def with_classes(
        self, kept: NDArray[Any], n_classes: int, scale: float, *_: float
    ) -> "KernelMachine":
        """Return a machine of more classes; see ``DualState.with_classes``."""
        if n_classes == self.dual.n_classes:
            return self.copy()
        return replace(self, dual=self.dual.with_classes(kept, n_classes, scale))


Machine = Weights | KernelMachine  # what predicts


@dataclass(frozen=True)
class KernelChoice:
    """The kernel that rows of files are seen through; poly is (γ·x·x′ + 1)^degree."""

    kernel: str
    gamma: float | str = "scale"
    kernel_degree: int = 2

    def __post_init__(self) -> None:
        if self.kernel not in FILE_KERNELS:
            names = word_list(map(repr, FILE_KERNELS), joint=" or ")
            raise InputError(f"{Parameter('kernel')} must be {names}; got {self.kernel!r}.")
        check_parameters("train_files", {"gamma": self.gamma, "degree": self.kernel_degree})

    @classmethod
    def from_parameters(cls, **chosen: Any) -> "KernelChoice":
        """Return what parameters of ``train_files`` say together, of which one at least is set."""
        chosen = {name: value for name, value in chosen.items() if value is not None}
        kernel = chosen.get("kernel")
        needed = {"gamma": Parameter("kernel"), "kernel_degree": Parameter("kernel", "poly")}
        for name in needed.keys() & chosen.keys():
            if kernel is None or (kernel == "rbf" and name == "kernel_degree"):
                raise InputError(f"{Parameter(name)} has no effect without ", needed[name], ".")
        return cls(**chosen)

    def check(self, learner: Learner, **others: Any) -> None:
        """Raise InputError for what a kernel machine that is trained from files cannot do."""
        if learner.second_order:
            rules = word_list(additive_rules(), joint=" or ")
            raise InputError(
                f"{Parameter('rule', learner.rule)} keeps a variance for each weight, and a kernel"
                f" machine has no weights; use the rule {rules}."
            )
        others |= {"record_mistakes": learner.record_mistakes}
        for name, value in others.items():
            if value:
                chosen = Parameter("kernel", self.kernel)
                raise InputError(f"{Parameter(name)} is not available with ", chosen, ".")

    def title(self, learner: Learner) -> str:
        """Return what the learner is called with this kernel."""
        name = "an RBF kernel" if self.kernel == "rbf" else "a polynomial kernel"
        return f"{learner.title} with {name}"

    def options(self, learner: Learner) -> dict[str, Any]:
        """Return all parameters of the estimator that learns so."""
        values = {entry.name: entry.default for entry in rule_parameters().values()}
        values |= learner.chosen
        return {
            "kernel": self.kernel,
            "degree": self.kernel_degree,
            "gamma": self.gamma,
            "coef0": 1.0 if self.kernel == "poly" else 0.0,
            "rule": learner.rule,
            **{name: values[name] for name in ("eta0", "margin", "C")},
            "memory": learner.memory,
            "multi_class": "joint",
            "cache_size": 200,
            "max_iter": learner.passes,
            **{name: getattr(learner, name) for name in SHARED},
        }


def kernel_model(plan: "TrainingPlan", rows: FileRows, observers: Sequence[Observer] = ()) -> Model:
    """Train a machine on rows, and once more on all of them after some were held out."""
    choice, learner = cast("KernelChoice", plan.kernel), plan.learner
    examples = replace(
        rows.examples(MOST_DENSE_COLUMNS),
        targets=rows.numbers,
        weight=rows.row_weights(plan.class_weight),
    )
    options = choice.options(learner)
    empty = KernelMachine.empty(SimpleNamespace(**options), examples.rows, len(rows.classes))

    def trained(passes: Plan) -> tuple[KernelMachine, KernelTraining, Outcome]:
        generator, machine = np.random.default_rng(learner.random_state), empty.copy()
        return machine, *machine.fit(examples, passes, generator, observers)

    first, n_passes, converged = replace(learner.plan(), record=False), 0, False
    machine, training, outcome = trained(first)
    n_held_out = training.n_held_out
    if plan.refit and n_held_out and outcome.stop_reason not in ENDED_EARLY:
        most = learner.passes if few_held_out(learner, n_held_out) else outcome.best_pass
        machine, _, again = trained(replace(first, max_iter=most, early_stopping=None))
        n_passes, converged = len(again.history), again.converged
    facts = facts_of(
        TriedRows(n_held_out, outcome.tried_error).record(),
        {"refit": n_passes > 0, "refit_passes": n_passes, "refit_converged": converged},
    )
    return Model(
        LearnerRecord(KERNEL_LEARNER, options).with_options(class_weight=plan.class_weight),
        rows.classes,
        machine,
        record=Record.of(outcome, facts, counted=True),
    )
