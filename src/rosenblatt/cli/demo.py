"""The demo: a real data set, trained, judged and explained on one screen."""

from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

BLOCKS = "▁▂▃▄▅▆▇█"


@click.command()
@click.option("--seed", default=0, show_default=True, help="Seed of the split and the shuffling.")
def demo(seed: int) -> None:
    """Train on a real data set that comes with scikit-learn and show the result."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    from rosenblatt import AveragedPerceptron, Perceptron

    data = load_breast_cancer()
    X_train, X_test, y_train, y_test = train_test_split(
        data.data, data.target_names[data.target], test_size=0.25, random_state=seed
    )
    scaler = StandardScaler().fit(X_train)
    X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    last = Perceptron(random_state=seed)
    average = AveragedPerceptron(early_stopping=True, random_state=seed)
    learners = {"last weights": last, "mean of weights": average}
    for learner in learners.values():
        learner.fit(X_train, y_train)

    console = Console(highlight=False)
    console.print(
        f"[bold]Breast cancer, Wisconsin[/bold]: {len(X_train)} rows to learn from, "
        f"{len(X_test)} to judge by, {X_train.shape[1]} features."
        f"\nIs a tumour {' or '.join(average.classes_)}?\n"
    )
    console.print(_how_it_went(learners))
    console.print(_judgement(learners, X_test, y_test, y_train))
    console.print(_weights(average, data.feature_names))
    console.print(
        "\nNext: [bold]from rosenblatt import AveragedPerceptron[/bold] and .fit(X, y) "
        "on your own data."
    )


def _how_it_went(learners: dict[str, Any]) -> Table:
    table = Table(title="Training: mistakes per pass", title_justify="left", box=None)
    for heading in ("", "passes", "mistakes", "", "ended because"):
        table.add_column(heading)
    reasons = {
        "converged": "no mistake: separable",
        "early_stopping": "held-out score no better",
        "max_iter": "max_iter reached",
    }
    for name, learner in learners.items():
        curve = sparkline([record.mistakes for record in learner.history_])
        reason = reasons.get(learner.stop_reason_, learner.stop_reason_)
        table.add_row(name, str(learner.n_iter_), str(learner.n_mistakes_), curve, reason)
    return table


def _judgement(
    learners: dict[str, Any], X: NDArray[Any], y: NDArray[Any], y_train: NDArray[Any]
) -> Table:
    table = Table(title="\nRows never seen before", title_justify="left", box=None)
    for heading in ("", "wrong", "error"):
        table.add_column(heading, justify="right" if heading else "left")
    labels, counts = np.unique(y_train, return_counts=True)
    guess = labels[counts.argmax()]
    wrong = {f"always {guess}": int((y != guess).sum())}
    wrong |= {name: int((learner.predict(X) != y).sum()) for name, learner in learners.items()}
    for name, n in wrong.items():
        table.add_row(name, f"{n} of {len(y)}", f"{n / len(y):.1%}")
    return table


def _weights(learner: Any, names: NDArray[Any]) -> Table:
    w = learner.coef_[0]
    order = np.argsort(w)
    negative, positive = learner.classes_
    table = Table(title="\nWhat decides (features scaled alike)", title_justify="left", box=None)
    for side in (positive, negative):
        table.add_column(f"speaks for {side}")
        table.add_column("weight", justify="right")
    for low, high in zip(order[:5], order[::-1][:5], strict=True):
        table.add_row(names[high], f"{w[high]:+.2f}", names[low], f"{w[low]:+.2f}")
    return table


def sparkline(values: list[int], width: int = 14) -> str:
    """Draw numbers as blocks, the largest full; longer lists as the means of equal parts."""
    parts = np.array_split(np.array(values, float), min(width, len(values)))
    means = np.array([part.mean() for part in parts])
    top = means.max() or 1.0
    return "".join(BLOCKS[round(mean / top * (len(BLOCKS) - 1))] for mean in means)
