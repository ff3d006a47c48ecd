"""Edits that a test must notice: each is made in a copy of the tree, where its test must fail.

``make mutants`` tries all of them, ``python -m tests.mutants WORD`` those with a word.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory

from tests.processes import ROOT

# A file of src/rosenblatt, text that stands there once, its replacement
Edit = tuple[str, str, str]

MUTANTS: dict[str, list[Edit]] = {  # by the test that must fail
    "estimators/test_multilabel.py::test_thresholds_are_fitted_to_rows_that_were_not_learned": [
        (
            "estimators/multilabel.py",
            "parts = holdout.between(0, n_rows)",
            "parts = holdout.between(0, n_rows)._replace(learned=np.arange(n_rows))",
        ),
    ],
    "models/test_labels.py::test_thresholds_of_files_are_fitted_to_the_held_out_rows": [
        (
            "models/held_out.py",
            "for part in trained.supply.tried():",
            "for part in trained.supply.sweep():",
        ),
    ],
    "models/test_labels.py::test_thresholds_of_few_rows_are_fitted_to_all_in_turn": [
        (
            "models/held_out.py",
            "HoldOut.of_rows(tried, n_rows)",
            "HoldOut.of_rows(tried[:0], n_rows)",
        ),
    ],
    "tasks/test_label_thresholds.py::test_thresholds_of_these_scores_never_change": [
        ("tasks/label_thresholds.py", "PRIOR = 50", "PRIOR = 5"),
        ("tasks/label_thresholds.py", "PRIOR = 50", "PRIOR = 100"),
        ("tasks/label_thresholds.py", "EXACT = 2.0", "EXACT = 1.0"),
        ("tasks/label_thresholds.py", "SWEEPS = 4", "SWEEPS = 1"),
        ("tasks/label_thresholds.py", "STARTS = 8", "STARTS = 80"),
    ],
    "tuning/test_audit.py::test_a_label_is_doubted_below_one_half": [
        ("tasks/label_sets.py", "own < 0.5", "own < 0.45"),
        ("tasks/label_sets.py", "own < 0.5", "own < 0.55"),
        ("tuning/audit.py", "folds: int = 5,", "folds: int = 3,"),
    ],
    "models/test_race.py::test_the_simpler_of_two_that_are_about_as_good": [
        ("models/race.py", "STANDARD_ERRORS = 1.0", "STANDARD_ERRORS = 0.0"),
        ("models/race.py", "STANDARD_ERRORS = 1.0", "STANDARD_ERRORS = 2.0"),
        (
            "models/race.py",
            "forms = sorted(best.values(), key",
            "forms = sorted(best.values(), reverse=True, key",
        ),
        (
            "models/race.py",
            "self._first(sorted(own, key",
            "self._first(sorted(own, reverse=True, key",
        ),
    ],
    "theory/test_certificate.py::test_weights_below_zero_prove_nothing": [
        ("theory/certificate.py", "min(weights) <= 0", "min(weights) == 0"),
    ],
    "training/test_loop.py::test_of_equal_passes_the_first_is_kept": [
        ("training/loop.py", "score > self.score", "score >= self.score"),
    ],
    "tasks/test_metrics.py::test_of_equal_values_the_first_is_best": [
        (
            "tasks/metrics.py",
            "return int(np.argmax(self.sign * np.asarray(values)))",
            "return len(list(values)) - 1 - int(np.argmax(self.sign * np.asarray(values)[::-1]))",
        ),
    ],
    "training/test_order.py::test_the_rows_that_a_seed_holds_out_never_change": [
        ("training/holdout.py", ".random_raw()))\n", ".random_raw()) + 1)\n"),
        ("training/holdout.py", "astype(np.uint64) + np.uint64(1)", "astype(np.uint64)"),
        (
            "training/holdout.py",
            "members[: int(share * len(members))]",
            "members[-int(share * len(members)) :]",
        ),
        ("training/holdout.py", "+ dealt) % n_folds", "+ dealt) * n_folds // len(strata)"),
    ],
    "training/test_order.py::test_the_order_of_a_seed_never_changes": [
        (
            "training/examples.py",
            "permute(order, generator)\n        return order",
            "generator.shuffle(order)\n        return order",
        ),
    ],
    "training/test_order.py::test_the_groups_of_a_seed_never_change": [
        ("training/examples.py", "permute(first, generator)", "permute(first[1:], generator)"),
        ("training/examples.py", "words[:0:-1].copy()", "words[1:].copy()"),
    ],
    "training/test_streaming.py::test_the_order_of_a_seed_never_changes": [
        ("training/streaming.py", "permute(batches, shuffler)", "permute(batches[1:], shuffler)"),
    ],
    "service/test_http.py::test_an_admin_of_one_model_has_no_say_in_tokens": [
        (
            "service/operations.py",
            f'    """{first}"""\n    call.caller.check_all_models()\n',
            f'    """{first}"""\n',
        )
        for first in (
            "Make a token, which is shown this once.",
            "List the tokens, without the secrets.",
            "Remove a token: it is refused from now on.",
        )
    ],
    "service/test_http.py::test_the_last_admin_token_stays": [
        ("service/writer.py", "if keep_admin and admins == [name]:", "if False:"),
    ],
    "service/test_http.py::test_no_removal_opens_a_service": [
        (
            "service/access.py",
            "self._open = self._open and not self._tokens()",
            "self._open = self.operator is None and not self._tokens()",
        ),
    ],
    "service/test_http.py::test_only_json_from_this_host": [
        ("service/access.py", r're.compile(r":[0-9]{0,5}\Z")', r're.compile(r":.*\Z")'),
    ],
    "service/test_http.py::test_a_wrong_value_of_a_column": [
        ("service/columns.py", "raise _of_request(error, len(batch)) from error", "raise"),
    ],
    "service/test_connection.py::test_a_header_that_stands_twice": [
        ("service/app.py", 'if len(headers) < len(scope["headers"]):', "if False:"),
    ],
    "service/test_forgetting.py::test_a_return_during_a_replay": [
        ("service/forgetting.py", "if journal.last_turn(model) != self._turn:", "if False:"),
    ],
    "service/test_forgetting.py::test_a_return_to_a_forgotten_version": [
        (
            "service/forgetting.py",
            "if version < (journal.model(model) or entry.record).oldest:",
            "if False:",
        ),
    ],
    "service/test_forgetting.py::test_an_example_again_after_a_return": [
        (
            "service/writer.py",
            "bound = [one for one in found if one.forgotten or one.sequence not in undone]",
            "bound = found",
        ),
    ],
    "service/test_journal.py::test_the_start_says_which_line_is_damaged": [
        (
            "service/journal.py",
            "if version == SCHEMA_VERSION:\n            self._check",
            "if False:\n            self._check",
        ),
    ],
    "service/test_journal.py::test_every_change_keeps_the_checksums": [
        (
            "service/journal.py",
            "AFTER UPDATE OF {1} ON main.{0}",
            "AFTER UPDATE OF checksum ON main.{0}",
        ),
    ],
    "cli/test_screen.py::test_interrupted_start": [
        ("cli/__init__.py", "if self.may_be_held and frame is None:", "if self.may_be_held:"),
    ],
}


def copied(folder: str) -> Path:
    """Return a copy of the tree, which is edited in place of the checkout."""
    left = ignore_patterns(".?*", "__pycache__", "build", "dist", "generated")
    return copytree(ROOT, Path(folder, "tree"), ignore=left)


def outcome(tree: Path, tests: Iterable[str]) -> tuple[str, str]:
    """Run tests in a copy of the tree; return "passes", "fails" or "error", and what they print."""
    # Bytecode is taken for that of a file of the same size and second.
    paths = {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    options = ["-n", "0", "-q", "-x", "-p", "no:cacheprovider", "-o", "timeout=300"]
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-m", "pytest", *options, *(f"tests/{test}" for test in tests)],
        env=os.environ | paths,
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )
    fails = done.returncode == 1 and re.search(r"^\d+ failed", done.stdout, re.MULTILINE)
    return "fails" if fails else "error" if done.returncode else "passes", done.stdout + done.stderr


def main(words: list[str]) -> int:
    """Print a table of the edits with these words; return 1 unless a test fails with each."""
    pairs = [(test, edit) for test, edits in MUTANTS.items() for edit in edits]
    chosen = [
        (test, edit) for test, edit in pairs if all(w in " ".join([test, *edit]) for w in words)
    ]
    if not chosen:
        sys.exit(f"No edit has {' and '.join(words)}.")
    n_noticed = 0
    with TemporaryDirectory() as folder:
        tree = copied(folder)
        result, said = outcome(tree, dict.fromkeys(test for test, _ in chosen))
        if result != "passes":
            sys.exit(f"Tests must pass without an edit:\n{said}")
        print("| file | edit | test | result |\n| --- | --- | --- | --- |")
        for test, (file, old, new) in chosen:
            path = tree / "src" / "rosenblatt" / file
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(old, new), encoding="utf-8")
            result, said = outcome(tree, [test])
            path.write_text(text, encoding="utf-8")
            edit = " → ".join(f"`{' '.join(side.split())}`" for side in (old, new))
            print(f"| {file} | {edit} | {test} | {result} |", flush=True)
            if result == "error":
                print(said, file=sys.stderr)
            n_noticed += result == "fails"
    print(f"\n{n_noticed} of {len(chosen)} edits noticed")
    return int(n_noticed < len(chosen))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
