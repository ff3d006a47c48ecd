"""A new rule is one class and one line of the table: every edge then has it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.rules.toy_rule import Cautious, Relaxation

ROOT = Path(__file__).parents[2]
ROWS = [(1, 0, 1), (0, 1, 0), (1, 1, 1), (-1, 0, 0), (2, -1, 1), (0, 2, 0), (-1, -1, 0), (1, -2, 1)]
SHARE = 0.25
RULES = ("relaxation", "cautious")


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return what a process with the toy rules in its table learned through each edge."""
    folder = tmp_path_factory.mktemp("toy")
    data = folder / "toy.csv"
    data.write_text("a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in ROWS))
    command = [sys.executable, "-m", "tests.rules.toy_rule", str(folder), str(data)]
    environment = os.environ | {"ROSENBLATT_PLAIN": "1"}
    done = subprocess.run(  # noqa: S603  # our own
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) | {"folder": folder}


def by_hand(rule: str) -> list[float]:
    """Learn by a toy rule in plain lists: pass after pass until one makes no mistake."""
    w, sigma = [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]
    for _ in range(3):
        mistakes = 0
        for a, b, y in ROWS:
            x, sign = (float(a), float(b), 1.0), 1.0 if y else -1.0
            margin = sign * sum(v * c for v, c in zip(w, x, strict=True))
            mistakes += margin <= 0
            if rule == "relaxation":
                tau = Relaxation(share=SHARE).step(margin, sum(c * c for c in x))
                w = [v + tau * sign * c for v, c in zip(w, x, strict=True)]
                continue
            scaled = [s * c for s, c in zip(sigma, x, strict=True)]
            variance = sum(s * c for s, c in zip(scaled, x, strict=True))
            alpha, beta = Cautious(share=SHARE).step(margin, variance)
            w = [v + alpha * sign * s for v, s in zip(w, scaled, strict=True)]
            sigma = [s - beta * d * d for s, d in zip(sigma, scaled, strict=True)]
        if not mistakes:
            break
    return w if rule == "relaxation" else w + sigma


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("edge", ["estimator", "stream", "trace", "files", "command", "loaded"])
def test_every_edge_learns_by_it(learned: Any, rule: str, edge: str) -> None:
    """Estimator, stream, trace, library, command and model file have the weights made by hand.

    So have they the variances of a second-order rule.
    """
    assert learned[rule][edge] == pytest.approx(by_hand(rule), rel=1e-12)
    assert learned[rule][edge] == learned[rule]["estimator"]


def test_the_kernel_learner_has_it(learned: Any) -> None:
    """With the linear kernel it decides as the weights do; second order it refuses."""
    first = learned["relaxation"]
    assert first["kernel"] == pytest.approx(first["linear"], rel=1e-12)
    assert learned["cautious"]["kernel"].startswith(
        "The parameter rule of KernelPerceptron must be"
    )


@pytest.mark.parametrize(("rule", "step"), [("relaxation", "+0.125"), ("cautious", "+0.0833333")])
def test_the_commands_name_it(learned: Any, rule: str, step: str) -> None:
    """Its title, its option and its default stand where the other rules have theirs."""
    told = learned[rule]
    assert f"{rule.capitalize()} learner" in told["trained"]
    assert "Error 0.00%" in told["evaluated"]
    assert step in told["traced"]
    assert ("±" in told["weighed"]) == (rule == "cautious")
    assert "--share X" in told["help"]
    said = " ".join(told["help"].split())
    assert "Share to go. For --rule relaxation or cautious. [default: 0.5]" in said
    assert rule in told["report"]


def test_the_page_steps_by_it(learned: Any) -> None:
    """The JavaScript that the lab is given for it makes the same steps to the last bit."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed: apt-get install nodejs")
    shared = learned["folder"] / "shared.mjs"
    shared.write_text(learned["shared.js"], encoding="utf-8")
    asked = [(m / 7, s / 3) for m in range(-9, 9) for s in range(5)]
    script = (
        f"import {{RULES}} from {json.dumps(shared.as_uri())};"
        f"console.log(JSON.stringify({json.dumps(asked)}.map(([m, s]) =>"
        "RULES.relaxation.step(m, s))));"
    )
    done = subprocess.run(  # noqa: S603  # our own
        [node, "--input-type=module", "-e", script], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [Relaxation().step(m, s) for m, s in asked]
