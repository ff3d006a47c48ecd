"""A process with one more rule in the table, which it then learns by through every edge.

Run as a program: options and lists of rules are made when their modules are imported, so the rule
has to be in the table before. It answers with one JSON object.
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


ENTRY = RuleEntry(
    Relaxation,
    "relaxation learner",
    "min(C, share·ℓ/‖x‖²)",
    "Agmon, Canadian Journal of Mathematics 6 (1954)",
    {"last": 10, "average": 10},
    (RuleParameter("C", 1.0, "Limit on each step."), RuleParameter("share", 0.5, "Share to go.")),
)


def weights(model: Any) -> list[float]:
    """Return the weights and the bias of a model."""
    return [float(value) for value in model.weights[0]]


def answers(folder: Path, data: Path) -> dict[str, Any]:
    """Return what each edge learned from the rows of this file, in the order given."""
    import numpy as np
    from click.testing import CliRunner

    import rosenblatt
    from rosenblatt.cli import main
    from rosenblatt.lab.translation import shared_text
    from rosenblatt.models.file import read

    table = np.loadtxt(data, delimiter=",", skiprows=1)
    X, y = table[:, :2], table[:, 2].astype(int)
    learned: dict[str, Any] = {}
    estimator = rosenblatt.RuleClassifier(
        rule="relaxation", memory="last", parameters={"share": 0.25}, max_iter=3, shuffle=False
    ).fit(X, y)
    learned["estimator"] = weights(estimator.model_)
    stream = rosenblatt.RuleClassifier(
        rule="relaxation", memory="last", parameters={"share": 0.25}, shuffle=False
    )
    for _ in range(estimator.n_iter_):
        stream.partial_fit(X, y, classes=[0, 1])
    learned["stream"] = weights(stream.model_)
    steps = rosenblatt.trace(X, y, rule="relaxation", share=0.25, max_iter=3)
    learned["trace"] = [*map(float, steps[-1].w), float(steps[-1].b)]
    options: dict[str, Any] = {
        "shuffle": False,
        "scale": False,
        "max_iter": 3,
        "fit_intercept": True,
    }
    learned["files"] = weights(
        rosenblatt.train_files(
            str(data), label="y", rule="relaxation", memory="last", share=0.25, **options
        )
    )
    model = folder / "toy.model"
    command = (
        f"train {data} --label y --rule relaxation --memory last --share 0.25 --max-iter 3 "
        f"--shuffle no --no-scale -o {model}"
    )
    runner = CliRunner()
    result = runner.invoke(main, command.split(), catch_exceptions=False)
    learned["trained"] = result.output
    learned["command"] = weights(read(str(model)))
    learned["loaded"] = weights(rosenblatt.load(model).model_)
    printed = {
        "evaluated": f"evaluate {model} {data}",
        "traced": f"trace {data} --label y --rule relaxation --share 0.25 --max-iter 3",
        "help": "train --help",
    }
    for name, words in printed.items():
        result = runner.invoke(main, words.split(), catch_exceptions=False)
        learned[name] = result.output
    kernel = rosenblatt.KernelPerceptron(
        rule="relaxation", kernel="linear", memory="last", max_iter=3, shuffle=False
    ).fit(X, y)
    plain = rosenblatt.RuleClassifier(
        rule="relaxation", memory="last", max_iter=3, shuffle=False
    ).fit(X, y)
    learned["kernel"] = kernel.decision_function(X).tolist()
    learned["linear"] = plain.decision_function(X).tolist()
    report = folder / "toy.html"
    result = runner.invoke(main, f"report {model} --test {data} -o {report}".split())
    assert result.exit_code == 0, result.output
    learned["report"] = report.read_text(encoding="utf-8")
    learned["shared.js"] = shared_text()
    return learned


if __name__ == "__main__":
    RULES["relaxation"] = ENTRY  # here alone: the tests that import this module have no such rule
    sys.stdout.write(json.dumps(answers(Path(sys.argv[1]), Path(sys.argv[2]))))
