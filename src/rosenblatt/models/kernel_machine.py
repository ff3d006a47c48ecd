"""Kernel machines: what their parameters make, how rows of files train one, and its scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.rows import Rows
from rosenblatt.mistakes.gram import sizes_within
from rosenblatt.mistakes.kernel import Kernel, scale_gamma
from rosenblatt.mistakes.machine import DualState
from rosenblatt.mistakes.machine_arrays import read_machine
from rosenblatt.models.held_out import few_held_out
from rosenblatt.models.learner import SHARED, Learner, plain_options
from rosenblatt.models.model import KernelMachine, Model, record_of
from rosenblatt.models.rows import MOST_DENSE_COLUMNS, FileRows
from rosenblatt.parameters import check_parameters
from rosenblatt.rules import additive_rules, rule_parameters
from rosenblatt.training.examples import Examples
from rosenblatt.training.history import ENDED_EARLY, Observer, Outcome
from rosenblatt.training.kernel import KernelTraining
from rosenblatt.training.loop import Plan, train
from rosenblatt.wording import word_list

if TYPE_CHECKING:
    from rosenblatt.models.train import TrainingPlan

KERNEL_LEARNER = "KernelPerceptron"
FILE_KERNELS = ("rbf", "poly")


def kernel_of(parameters: Any, rows: Rows) -> Kernel:
    """Return the kernel with its numbers, as these rows determine them."""
    gamma = parameters.gamma
    if gamma == "scale":
        gamma = scale_gamma(rows) if parameters.kernel in {"poly", "rbf"} else 1.0
    elif gamma == "auto":
        gamma = 1.0 / max(rows.shape[1], 1)
    return _kernel_with(parameters, float(gamma))


def _kernel_with(parameters: Any, gamma: float) -> Kernel:
    """Return the kernel of the parameters with this γ; a bias adds 1 to every value."""
    constant = 1.0 if parameters.fit_intercept else 0.0
    numbers = float(parameters.coef0), int(parameters.degree), constant
    return Kernel(parameters.kernel, gamma, *numbers)


def empty_state(parameters: Any, n_features: int, n_classes: int) -> DualState:
    """Return the state before the first row."""
    return DualState(n_features, n_classes, parameters.multi_class == "joint")


def train_machine(
    machine: KernelMachine,
    parameters: Any,
    examples: Examples,
    plan: Plan,
    generator: "np.random.Generator",
    observers: Sequence[Observer] = (),
) -> tuple[KernelTraining, Outcome]:
    """Change the state of a machine by passes over rows, whose targets are class numbers."""
    sizes = sizes_within(float(parameters.cache_size), examples.rows.shape[1])
    training = KernelTraining(*machine, examples, plan, sizes, generator, parameters.memory)
    outcome = train(training, plan, observers)
    training.finish()
    return training, outcome


def stored_machine(model: Model, parameters: Any) -> KernelMachine:
    """Return the machine of a model, read from its arrays where it comes from a file."""
    if model.machine is not None:
        return model.machine
    empty = empty_state(parameters, model.n_features, len(model.classes))
    kernel = _kernel_with(parameters, 1.0)
    return KernelMachine(*read_machine(model.arrays, kernel, empty, model.count))


def machine_scores(
    machine: KernelMachine, parameters: Any, rows: Rows, memories: tuple[str, ...]
) -> dict[str, NDArray[Any]]:
    """Return the scores of rows by each memory: (n,) for two classes, else (n, K)."""
    state, kernel = machine
    sizes = sizes_within(float(parameters.cache_size), rows.shape[1])
    found = state.scores(kernel, rows, sizes, memories, positive=parameters.zero == "positive")
    return {
        memory: scores[0] if state.n_classes == 2 else np.ascontiguousarray(scores.T)
        for memory, scores in found.items()
    }


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
    parameters = SimpleNamespace(**options)
    kernel = kernel_of(parameters, examples.rows)

    def trained(passes: Plan) -> tuple[KernelMachine, KernelTraining, Outcome]:
        generator = np.random.default_rng(learner.random_state)
        state = empty_state(parameters, examples.rows.shape[1], len(rows.classes))
        machine = KernelMachine(state, kernel)
        return machine, *train_machine(machine, parameters, examples, passes, generator, observers)

    first, n_passes, converged = replace(learner.plan(), record=False), 0, False
    machine, training, outcome = trained(first)
    n_held_out = training.n_held_out
    if plan.refit and n_held_out and outcome.stop_reason not in ENDED_EARLY:
        most = learner.passes if few_held_out(learner, n_held_out) else outcome.best_pass
        machine, _, again = trained(replace(first, max_iter=most, early_stopping=None))
        n_passes, converged = len(again.history), again.converged
    record = record_of(outcome)
    record["outcome"]["n_learned"] = outcome.n_rows
    return Model(
        KERNEL_LEARNER,
        options | plain_options({"class_weight": plan.class_weight}),
        rows.classes,
        **machine.state.vectors(),
        machine=machine,
        **record,
        training={
            "held_out_rows": n_held_out,
            "held_out_error": outcome.held_out_error,
            "refit": n_passes > 0,
            "refit_passes": n_passes,
            "refit_converged": converged,
        },
    )
