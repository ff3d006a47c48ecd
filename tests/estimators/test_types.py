"""What a type checker says of code that uses the package."""

from pathlib import Path

from mypy import api

from rosenblatt.rules import RuleValues, rule_parameters

SNIPPET = """
from rosenblatt import AveragedPerceptron, KernelPerceptron, OnlineLearner, TableEncoder, load
from rosenblatt import train_files
AveragedPerceptron(maxiter=3)
AveragedPerceptron(max_iter="3")
KernelPerceptron(gama=1.0)
TableEncoder(bin=3)
OnlineLearner("arow", hashbits=3)
train_files("mail.csv", label="spam", rule="arow", max_iter=3)
train_files("mail.csv", lable="spam")
train_files("mail.csv", label="spam", max_iter="3")
reveal_type(AveragedPerceptron(max_iter=3).fit([[0.0], [1.0]], [0, 1]))
reveal_type(load("spam.model"))
reveal_type(load("spam.model").score([[0.0]], [1]))
load("spam.model").coef_
"""


def test_constructors_and_load_have_types(tmp_path: Path) -> None:
    """A misspelled or mistyped parameter is an error, and what ``load`` returns has a type."""
    path = tmp_path / "snippet.py"
    path.write_text(SNIPPET)
    config = str(Path(__file__).parents[2] / "pyproject.toml")
    told, _, _ = api.run([str(path), "--config-file", config, "--no-error-summary"])
    lines = [line.partition(": ")[2] for line in told.replace(str(path), "").splitlines()]
    unexpected = 'error: Unexpected keyword argument "{}" for "{}"'
    errors = [line.partition(";")[0] for line in lines if line.startswith("error")]
    assert [error.partition("  [")[0] for error in errors] == [
        unexpected.format("maxiter", "AveragedPerceptron"),
        'error: Argument "max_iter" to "AveragedPerceptron" has incompatible type "str"',
        unexpected.format("gama", "KernelPerceptron"),
        unexpected.format("bin", "TableEncoder"),
        unexpected.format("hashbits", "OnlineLearner"),
        'error: Unexpected keyword argument "lable"',
        'error: Argument "max_iter" has incompatible type "str"',
    ]
    assert [line.rpartition("is ")[2] for line in lines if "Revealed" in line] == [
        '"rosenblatt.estimators.linear.AveragedPerceptron"',
        '"rosenblatt.estimators.base.FittedClassifier"',
        '"float"',
    ]


def test_keywords_are_those_of_the_rules() -> None:
    """What type checkers know of the rules' parameters is what the table of rules has."""
    assert set(RuleValues.__annotations__) == set(rule_parameters())
