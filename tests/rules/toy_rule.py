"""A process with two more rules in the table, which it then learns by through every edge.

Run as a program: options and lists of rules are made when their modules are imported, so the rules
have to be in the table before. It answers with one JSON object.
"""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

from rosenblatt.rules import RULES, RuleEntry, RuleParameter


class Relaxation(NamedTuple):
    """Go a share of the way to margin 1, but never further than C: tau = min(C, share·ℓ/‖x‖²)."""

    C: float = 1.0
    share: float = 0.5

    @property
    def target(self) -> float:
        """The margin of the hinge loss."""
        return 1.0

    @property
    def stops_by_itself(self) -> bool:
        """It approaches margin 1 for ever."""
        return False

    def step(self, margin: float, sqnorm: float) -> float:
        """Return min(C, share·ℓ/‖x‖²)."""
        if margin >= 1.0 or sqnorm == 0.0:
            return 0.0
        return min(self.C, self.share * (1.0 - margin) / sqnorm)


class Cautious(NamedTuple):
    """Second order: AROW with r = 1, a share of the way."""

    share: float = 0.5

    @property
    def target(self) -> float:
        """The margin of the hinge loss."""
        return 1.0

    @property
    def stops_by_itself(self) -> bool:
        """It approaches margin 1 for ever."""
        return False

    def step(self, margin: float, variance: float) -> tuple[float, float]:
        """Return alpha = share·ℓ/(v + 1) and beta = share/(v + 1)."""
        if margin >= 1.0 or variance == 0.0:
            return 0.0, 0.0
        beta = self.share / (variance + 1.0)
        return (1.0 - margin) * beta, beta


SHARE = RuleParameter("share", 0.5, "Share to go.")
ENTRIES = {
    "relaxation": RuleEntry(
        Relaxation,
        "relaxation learner",
        "min(C, share·ℓ/‖x‖²)",
        "Agmon, Canadian Journal of Mathematics 6 (1954)",
        {"last": 10, "average": 10},
        (RuleParameter("C", 1.0, "Limit on each step."), SHARE),
    ),
    "cautious": RuleEntry(
        Cautious,
        "cautious learner",
        "α = ℓ·β, β = share/(xᵀΣx + 1)",
        "nowhere",
        {"last": 10, "average": 10},
        (SHARE,),
        memory="last",
        order=2,
    ),
}


def weights(model: Any) -> list[float]:
    """Return the weights and the bias of a model, and their variances where it has them."""
    variance = [] if model.variance is None else model.variance[0]
    return [float(value) for value in [*model.weights[0], *variance]]


def answers(rule: str, folder: Path, data: Path) -> dict[str, Any]:
    """Return what each edge learned by a rule from the rows of this file, in the order given."""
    import numpy as np
    from click.testing import CliRunner

    import rosenblatt
    from rosenblatt.cli import main
    from rosenblatt.models.file import read

    table = np.loadtxt(data, delimiter=",", skiprows=1)
    X, y = table[:, :2], table[:, 2].astype(int)
    learned: dict[str, Any] = {}
    chosen: dict[str, Any] = {"rule": rule, "memory": "last"}
    estimator = rosenblatt.RuleClassifier(
        **chosen, parameters={"share": 0.25}, max_iter=3, shuffle=False
    ).fit(X, y)
    learned["estimator"] = weights(estimator.model_)
    stream = rosenblatt.RuleClassifier(**chosen, parameters={"share": 0.25}, shuffle=False)
    for _ in range(estimator.n_iter_):
        stream.partial_fit(X, y, classes=[0, 1])
    learned["stream"] = weights(stream.model_)
    last = rosenblatt.trace(X, y, rule=rule, share=0.25, max_iter=3)[-1]
    variance = [] if last.variance_w is None else [*last.variance_w, last.variance_b]
    learned["trace"] = [*map(float, [*last.w, last.b, *variance])]
    options: dict[str, Any] = {"shuffle": False, "scale": False, "max_iter": 3, "share": 0.25}
    learned["files"] = weights(
        rosenblatt.train_files(str(data), label="y", **chosen, fit_intercept=True, **options).model_
    )
    model = folder / f"{rule}.model"
    how = f"--label y --rule {rule} --memory last --share 0.25 --max-iter 3 --shuffle no --no-scale"
    runner = CliRunner()
    result = runner.invoke(main, f"train {data} {how} -o {model}".split(), catch_exceptions=False)
    learned["trained"] = result.output
    learned["command"] = weights(read(str(model)))
    learned["loaded"] = weights(rosenblatt.load(model).model_)
    printed = {
        "evaluated": f"evaluate {model} {data}",
        "weighed": f"weights {model}",
        "traced": f"trace {data} --label y --rule {rule} --share 0.25 --max-iter 3 --no-scale",
        "help": "train --help-all",
    }
    for name, words in printed.items():
        result = runner.invoke(main, words.split(), catch_exceptions=False)
        learned[name] = result.output
    kernel = rosenblatt.KernelPerceptron(
        rule=rule, kernel="linear", memory="last", max_iter=3, shuffle=False
    )
    plain = rosenblatt.RuleClassifier(**chosen, max_iter=3, shuffle=False).fit(X, y)
    try:
        learned["kernel"] = kernel.fit(X, y).decision_function(X).tolist()
    except rosenblatt.errors.InputError as refused:
        learned["kernel"] = str(refused)
    learned["linear"] = plain.decision_function(X).tolist()
    report = folder / f"{rule}.html"
    result = runner.invoke(main, f"report {model} --test {data} -o {report}".split())
    assert result.exit_code == 0, result.output
    learned["report"] = report.read_text(encoding="utf-8")
    return learned


if __name__ == "__main__":
    RULES.update(ENTRIES)  # here alone: the tests that import this module have no such rules
    from rosenblatt.lab.translation import shared_text

    told = {rule: answers(rule, Path(sys.argv[1]), Path(sys.argv[2])) for rule in ENTRIES}
    sys.stdout.write(json.dumps(told | {"shared.js": shared_text()}))
