"""The kinds of pictures: what each shows, which options it heeds, and how it is made."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from rosenblatt.errors import InputError
from rosenblatt.rules import rule_parameters

if TYPE_CHECKING:
    from rosenblatt.cli.plot_subject import LabelledMatrix, Subject
    from rosenblatt.plots import Display

Options = dict[str, Any]  # those that were given, by name

PLANE = frozenset({"x", "y", "plane"})
VOTE = "vote"  # a memory of pictures: no single weight vector is left of it
LEARNER = frozenset({"rule", "memory", "max_iter", "seed", "intercept", *rule_parameters()})


class Kind(NamedTuple):
    """A kind of picture."""

    sentence: str
    draw: "Callable[[Subject, Options], Display]"
    options: frozenset[str]
    of_model: bool = True  # whether a model will do
    beside_model: bool = True  # whether --test goes with a model
    beside_data: bool = True  # and with data


def fitted(subject: "Subject", options: Options, *, recorded: bool = False) -> Any:
    """Return the estimator of a model, or one that is trained on the rows."""
    if subject.model is not None:
        from rosenblatt import load

        return load(subject.path)
    return learner(options, recorded=recorded).fit(subject.rows.X, subject.rows.y)


def learner(options: Options, *, recorded: bool = False) -> Any:
    """Return the estimator that the options name; ``recorded`` has it know its mistakes."""
    import rosenblatt
    from rosenblatt.models.learner import Learner

    rule, memory = options.get("rule", "perceptron"), options.get("memory", "last")
    given = {
        "random_state": options.get("seed", 0),
        "fit_intercept": options.get("intercept", True),
    }
    if "max_iter" in options:
        given["max_iter"] = options["max_iter"]
    if memory == VOTE:
        if rule != "perceptron":
            msg = f"--memory vote goes with --rule perceptron; got {rule}."
            raise InputError(msg)
        return rosenblatt.VotedPerceptron(**given)
    chosen = Learner(rule, memory, {name: options.get(name) for name in rule_parameters()})
    kind = getattr(rosenblatt, chosen.estimator)
    return kind(**chosen.parameters() | given, record_mistakes=recorded)


def shown_rows(subject: "Subject") -> "LabelledMatrix":
    """Return the rows to draw: those beside it, else its own."""
    if subject.model is not None:
        return subject.needed_test
    return subject.rows if subject.test is None else subject.test


def plane(subject: "Subject", options: Options) -> Options:
    """Return what the displays are told of the plane."""
    pair = (options.get("x"), options.get("y"))
    if (pair[0] is None) != (pair[1] is None):
        msg = "--x and --y go together: name both features, or neither."
        raise InputError(msg)
    names = None if subject.model is not None else subject.rows.names
    features = None if pair[0] is None else pair
    return {"features": features, "plane": options.get("plane"), "feature_names": names}


def _of_rows(name: str) -> "Callable[[Subject, Options], Display]":
    """Return how a display of an estimator among rows is made."""

    def draw(subject: "Subject", options: Options) -> "Display":
        from rosenblatt import plots

        rows = shown_rows(subject)
        model = fitted(subject, options)
        display: Display = getattr(plots, name).from_estimator(
            model, rows.X, rows.y, **plane(subject, options)
        )
        return display

    return draw


def _update(subject: "Subject", options: Options) -> "Display":
    from rosenblatt.plots import UpdateDisplay

    names = ("rule", *rule_parameters(), "max_iter", "update")
    given = {name: options[name] for name in names if name in options}
    if "intercept" in options:
        given["fit_intercept"] = options["intercept"]
    rows = subject.rows
    return UpdateDisplay.from_data(rows.X, rows.y, **plane(subject, options), **given)


def _separability(subject: "Subject", options: Options) -> "Display":
    from rosenblatt.plots import SeparabilityDisplay

    rows = subject.rows
    return SeparabilityDisplay.from_data(rows.X, rows.y, **plane(subject, options))


def _errors(subject: "Subject", options: Options) -> "Display":
    from rosenblatt.plots import ErrorsDisplay

    if subject.model is not None:
        return ErrorsDisplay.from_estimator(fitted(subject, options))
    return ErrorsDisplay.from_data(**_curve(subject, options, 30))


def _orders(subject: "Subject", options: Options) -> "Display":
    from rosenblatt.plots import OrdersDisplay

    given = _curve(subject, options, 20)
    return OrdersDisplay.from_data(**given, n_seeds=options.get("seeds", 10))


def _curve(subject: "Subject", options: Options, max_iter: int) -> dict[str, Any]:
    rows, test = subject.rows, subject.test
    return {
        "X": rows.X,
        "y": rows.y,
        "X_test": None if test is None else test.X,
        "y_test": None if test is None else test.y,
        "estimator": learner(options),
        "max_iter": options.get("max_iter", max_iter),
        "random_state": options.get("seed", 0),
    }


def _theorem(name: str) -> "Callable[[Subject, Options], Display]":
    """Return how a display of the convergence theorem is made."""

    def draw(subject: "Subject", options: Options) -> "Display":
        from rosenblatt import plots

        given = {"max_iter": options["max_iter"]} if "max_iter" in options else {}
        rows = subject.rows
        display: Display = getattr(plots, name).from_data(rows.X, rows.y, **given)
        return display

    return draw


def _weights(subject: "Subject", options: Options) -> "Display":
    from rosenblatt.plots import WeightsDisplay

    names = None if subject.model is not None else subject.rows.names
    model = subject.model or fitted(subject, options)
    return WeightsDisplay.from_estimator(
        model,
        n=options.get("n", 10),
        class_=options.get("class_"),
        feature_names=names,
    )


def _contributions(subject: "Subject", options: Options) -> "Display":
    from rosenblatt.plots import ContributionsDisplay

    rows, number = shown_rows(subject), options.get("row", 1)
    if number > rows.X.shape[0]:
        msg = f"There are {rows.X.shape[0]:,} rows; there is no row {number:,}."
        raise InputError(msg)
    names = None if subject.model is not None else subject.rows.names
    return ContributionsDisplay.from_estimator(
        subject.model or fitted(subject, options),
        rows.X[[number - 1]],
        n=options.get("n", 10),
        feature_names=names,
        title=f"Row {number:,}",
    )


def _survival(subject: "Subject", options: Options) -> "Display":
    from rosenblatt.plots import SurvivalDisplay

    model = subject.model or fitted(subject, options, recorded=True)
    return SurvivalDisplay.from_estimator(model)


def _coverage(subject: "Subject", options: Options) -> "Display":
    from rosenblatt.plots import CoverageDisplay
    from rosenblatt.plots.passes import Split, checked

    if subject.model is not None or subject.test is not None:
        rows = subject.needed_test
        model = fitted(subject, options)
        return CoverageDisplay.from_estimator(model, rows.X, rows.y)
    split = Split(*checked(subject.rows.X, subject.rows.y, None, None), options.get("seed", 0))
    model = learner(options).fit(split.X, split.y)
    return CoverageDisplay.from_estimator(model, split.X_test, split.y_test)


def _comparison(subject: "Subject", options: Options) -> "Display":
    from rosenblatt.plots import ComparisonDisplay

    rows = subject.rows
    given = {"random_state": options.get("seed", 0), "max_iter": options.get("max_iter", 10)}
    return ComparisonDisplay.from_data(rows.X, rows.y, **plane(subject, options), **given)


KINDS = {
    "boundary": Kind(
        "The boundary of two classes with its weight vector, margin and bias.",
        _of_rows("BoundaryDisplay"),
        PLANE | LEARNER,
    ),
    "regions": Kind(
        "Which class a model gives every point of the plane; any number of classes.",
        _of_rows("RegionsDisplay"),
        PLANE | LEARNER,
    ),
    "projections": Kind(
        "Rows projected onto the weight vector, in the plane and along a line.",
        _of_rows("ProjectionsDisplay"),
        PLANE | LEARNER,
    ),
    "update": Kind(
        "One update: boundary and weight vector before and after it.",
        _update,
        PLANE | {"rule", *rule_parameters(), "max_iter", "intercept", "update"},
        of_model=False,
        beside_data=False,
    ),
    "separability": Kind(
        "Whether a line parts two classes, with the rows that prove it.",
        _separability,
        PLANE,
        of_model=False,
        beside_data=False,
    ),
    "errors": Kind(
        "Training and test error after each pass, and the sweet spot.",
        _errors,
        LEARNER,
        beside_model=False,
    ),
    "orders": Kind(
        "The error when rows are permuted and when not, over several seeds.",
        _orders,
        LEARNER | {"seeds"},
        of_model=False,
    ),
    "mistakes": Kind(
        "Mistakes so far against the bound of the convergence theorem.",
        _theorem("MistakesDisplay"),
        frozenset({"max_iter"}),
        of_model=False,
        beside_data=False,
    ),
    "angle": Kind(
        "The angle to the weights of widest margin after each update.",
        _theorem("AngleDisplay"),
        frozenset({"max_iter"}),
        of_model=False,
        beside_data=False,
    ),
    "weights": Kind(
        "The weights that say most, by name.",
        _weights,
        LEARNER | {"n", "class_"},
        beside_model=False,
        beside_data=False,
    ),
    "contributions": Kind("What decided one row.", _contributions, LEARNER | {"n", "row"}),
    "survival": Kind(
        "How long each weight vector lasted, which is its votes.",
        _survival,
        LEARNER,
        beside_model=False,
        beside_data=False,
    ),
    "coverage": Kind("The error on the rows that a model is surest of.", _coverage, LEARNER),
    "comparison": Kind(
        "Last, averaged and voted weights beside a tree and a nearest neighbour.",
        _comparison,
        PLANE | {"max_iter", "seed"},
        of_model=False,
        beside_data=False,
    ),
}
