"""The command ``report``."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from rosenblatt.cli import main
from tests.cli.models import SPAM_ROWS, rows_file, spam_model
from tests.report.pages import Page


def ran(*arguments: str) -> Result:
    """Return what the command printed and how it ended."""
    return CliRunner().invoke(main, ["report", *arguments])


def test_page_beside_the_model(tmp_path: Path) -> None:
    """Without -o the page stands beside the model, and the error is told."""
    path, rows = spam_model(tmp_path), rows_file(tmp_path, SPAM_ROWS)
    done = ran(path, "--test", rows)
    assert done.exit_code == 0, done.output
    target = Path(path).with_suffix(".html")
    page = Page(target.read_text(encoding="utf-8"))
    assert done.stdout.startswith(f"Report: {target} (")
    assert "Test error" in done.stdout
    assert "Hardest rows" in page.headings


def test_trained_from_a_file(tmp_path: Path) -> None:
    """A model of train --record-mistakes --verdict brings proof, survival and teachers along."""
    data = tmp_path / "rows.csv"
    lines = [f"{i % 7},{i % 5},{'yes' if (i % 7) > (i % 5) else 'no'}" for i in range(80)]
    flipped = [line.replace("yes", "no") if i % 13 == 0 else line for i, line in enumerate(lines)]
    data.write_text("a,b,class\n" + "\n".join(flipped) + "\n", encoding="utf-8")
    model, page = str(tmp_path / "rows.model"), str(tmp_path / "page.html")
    runner = CliRunner()
    options = ["-o", model, "--record-mistakes", "--verdict", "--max-iter", "5"]
    done = runner.invoke(main, ["train", str(data), *options])
    assert done.exit_code == 0, done.output
    done = ran(model, "--test", str(data), "-o", page, "--title", "yes or no", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["file"] == page
    assert told["bytes"] == Path(page).stat().st_size
    found = Page(Path(page).read_text(encoding="utf-8"))
    assert found.headings == [
        *("Summary", "Test", "Verdict", "Data", "Training", "Weights", "Hardest rows"),
        *("Survival", "Parameters"),
    ]
    wrong = round(told["test_error"] * 80)
    assert f"{wrong} of 80 rows wrong" in found.words
    assert "Inseparable." in found.words
    assert any(caption.startswith("Training rows that taught it") for caption in found.tables)


def test_standard_output(tmp_path: Path) -> None:
    """With -o - the page is all that is printed."""
    done = ran(spam_model(tmp_path), "-o", "-")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("<!doctype html>")
    assert done.stdout.endswith("</html>\n")


def test_rows_without_labels(tmp_path: Path) -> None:
    """Test rows without labels are refused, and no page is left behind."""
    data = tmp_path / "rows.csv"
    data.write_text("a,class\n1,x\n2,y\n3,x\n4,y\n", encoding="utf-8")
    model = str(tmp_path / "rows.model")
    runner = CliRunner()
    assert runner.invoke(main, ["train", str(data), "-o", model]).exit_code == 0
    data.write_text("a,class\n1,\n", encoding="utf-8")
    done = ran(model, "--test", str(data))
    assert done.exit_code == 2
    assert "no row has a label; leave --test out." in done.stderr
    assert not (tmp_path / "rows.html").exists()


def test_no_model(tmp_path: Path) -> None:
    """A file that is no model is refused with exit code 2."""
    done = ran(str(tmp_path / "none.model"))
    assert done.exit_code == 2
    assert "none.model" in done.stderr


def test_card(tmp_path: Path) -> None:
    """A file that ends in .md is a model card with the figures of the page."""
    path, rows = spam_model(tmp_path), rows_file(tmp_path, SPAM_ROWS)
    target = tmp_path / "card.md"
    assert ran(path, "--test", rows, "-o", str(target), "--title", "a|b").exit_code == 0
    text = target.read_text(encoding="utf-8")
    assert text.startswith("# a\\|b\n\n## Intended use\n")
    assert "| class | precision | recall | F1 | rows |" in text
    assert "Error on 5 rows of rows.svm: 20.00%" in text
