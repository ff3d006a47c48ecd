"""The options that say what is learned: of ``train``, ``tune`` and ``evaluate --folds``."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli.options import (
    COUNTED,
    MEMORY_HELP,
    SHUFFLES,
    choice_option,
    class_weight,
    column_options,
    default_memories,
    intercept_option,
    memory_option,
    ngram_lengths,
    number_option,
    option_group,
    passes_option,
    rule_option,
    rule_parameter_options,
    scale_option,
    seed_option,
    value_option,
    zero_option,
)

if TYPE_CHECKING:
    from rosenblatt.data.files import Layout

SPELLED = ("pairs", "triples", "intercept", "shuffle", "seed", "checkpoint_every")  # otherwise

recipe_options = option_group(
    (
        column_options,
        value_option(
            "--weight COLUMN",
            shown="1 for every row",
            help="Column of row weights: they multiply the steps, and rows of weight 0 are left "
            "out.",
        ),
        scale_option(default=True),
        choice_option(
            "--missing",
            choices=["mean", "zero", "error"],
            default="mean",
            help="Value used for missing numbers; with error, a missing number stops the training.",
        ),
        number_option(
            "--hash-bits",
            high=30,
            shown="no hashing",
            help="Hash the words of texts to 2^N features.",
        ),
        click.option(
            "--word-pairs/--no-word-pairs",
            default=True,
            show_default=True,
            help="Use pairs of neighbouring words of texts as features.",
        ),
        number_option(
            "--min-count",
            shown="2, or 1 below 1,000 rows or 100 terms a text",
            help="Leave out words and pairs in fewer than N texts.",
        ),
        value_option(
            "--char-ngrams MIN-MAX",
            shown="1-3 for texts without blanks between words, else 0: none",
            callback=ngram_lengths,
            help="Use runs of MIN to MAX characters of the words of texts as features, too.",
        ),
        number_option(
            "--bins",
            low=0,
            high=1000,
            shown="10, or 20 from 5,000 rows on, if held-out rows say so",
            help="Use N equally frequent ranges of each number as features beside it; 0: none.",
        ),
        click.option(
            "--pairs", is_flag=True, help="Add all pairs of features that occur in a row."
        ),
        click.option(
            "--triples",
            is_flag=True,
            help="Add all pairs and triples of features that occur in a row.",
        ),
        rule_option(
            None,
            shown="arow for files with a text column, else pa1; with --memory or on Dask "
            "perceptron",
        ),
        memory_option([*MEMORY_HELP], default_memories(), given=False),
        rule_parameter_options(),
        zero_option,
        intercept_option,
        passes_option(),
        click.option(
            "--early-stopping/--no-early-stopping",
            default=True,
            show_default=True,
            help="Hold out rows and stop when the error on them no longer falls.",
        ),
        click.option(
            "--refit/--no-refit",
            default=True,
            show_default=True,
            help="After early stopping, train again on all rows with the number of passes found, "
            "or all passes if fewer than 200 rows were held out "
            "(in one process only, not with --engine dask).",
        ),
        value_option(
            "--validation-fraction SHARE",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            default=0.1,
            help="Share of the rows to hold out.",
        ),
        number_option(
            "--n-iter-no-change",
            default=5,
            help="Number of passes without improvement before early stopping.",
        ),
        choice_option(
            "--shuffle",
            choices=SHUFFLES,
            default="every-pass",
            help="When to shuffle the rows. blocks: before every pass, by blocks of 256 kB; faster "
            "on large data, but not for rows sorted by class.",
        ),
        seed_option,
        value_option(
            "--class-weight balanced|LABEL=W,...",
            shown="1 for every class",
            callback=class_weight,
            help="Factor of the steps on rows of a class; balanced: all classes count alike.",
        ),
        choice_option(
            "--threshold",
            choices=COUNTED,
            metavar="METRIC",
            shown="0",
            help="With two classes, move the bias to where METRIC is best on held-out rows: "
            f"{', '.join(COUNTED)}.",
        ),
    )
)

kernel_options = option_group(
    (
        choice_option(
            "--kernel",
            choices=["rbf", "poly"],
            shown="none",
            help="See rows through a kernel, which bends the boundary: exp(-gamma*|x-x'|^2) or "
            "(gamma*x*x'+1)^degree. For data in memory; predict and evaluate take such models.",
        ),
        value_option(
            "--gamma G",
            type=click.FloatRange(0, min_open=True),
            shown="1/(features * variance)",
            help="Factor gamma of the kernel.",
        ),
        number_option("--kernel-degree", shown="2", help="Degree of --kernel poly."),
    )
)


def parameters(given: dict[str, Any], layout: "Layout") -> dict[str, Any]:
    """Return the options as the parameters of ``rosenblatt.train_files``."""
    named = {name: value for name, value in given.items() if name not in SPELLED}
    if "checkpoint_every" in given:
        named["checkpoint_seconds"] = given["checkpoint_every"]
    return named | {
        "degree": 3 if given["triples"] else 2 if given["pairs"] else 1,
        "fit_intercept": given["intercept"],
        "shuffle": SHUFFLES[given["shuffle"]],
        "random_state": given["seed"],
        **asdict(layout),
    }
