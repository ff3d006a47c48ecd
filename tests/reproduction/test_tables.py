"""Tables made one after another, kept, skipped and interrupted."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from reproduction import TABLES
from reproduction.__main__ import experiment as made_by
from reproduction.data_sets import VARIABLE, DataFolder
from reproduction.estimate import Estimate
from reproduction.experiment import Experiment, Setting
from reproduction.line import Line
from reproduction.results import Results
from reproduction.table import Table
from reproduction.tables import make_tables
from rosenblatt.errors import InputError

FIRST, SECOND = (
    Line("Claim", subject, 1.0, Estimate(1.0, 0.0, 1), tolerance=0.5) for subject in ("a", "b")
)


def experiment(name: str, trouble: str = "", *, has_subset: bool = True) -> Experiment:
    """Return an experiment of two lines, with some trouble between them."""

    def run(setting: Setting) -> Iterator[Line]:
        setting.tell(f"{name} begins")
        yield FIRST
        if trouble == "interrupted":
            raise KeyboardInterrupt
        if trouble == "missing":
            setting.folder.file("missing.svm")
        yield SECOND

    return Experiment(name, "Title", "source", "method", "tolerance", run, has_subset)


class Notes:
    """What is shown and told."""

    def __init__(self) -> None:
        self.shown: list[Table] = []
        self.told: list[str] = []

    def begin(self, name: str, later: Sequence[str]) -> None:
        """Note the table and how many come later."""
        self.told.append(f"{name}, then {len(later)}")

    def tell(self, text: str) -> None:
        """Note what is done."""
        self.told.append(text)

    def show(self, table: Table) -> None:
        """Note the table."""
        self.shown.append(table)


def make(
    folder: Path,
    experiments: Sequence[Experiment],
    *,
    quick: bool = False,
    resume: bool = False,
) -> tuple[dict[str, str], list[Table], list[str]]:
    """Make tables; return what is skipped, shown and told."""
    notes, data = Notes(), DataFolder(folder)
    results = Results.of(folder)
    skipped = make_tables(experiments, data, results, notes, quick=quick, resume=resume)
    return skipped, notes.shown, notes.told


def test_all_tables_are_registered() -> None:
    """The names that are offered are those of the experiments, in their order."""
    assert [made_by(name).name for name in TABLES] == list(TABLES)


def test_tables_are_shown_and_kept(tmp_path: Path) -> None:
    """Each table is shown, says what it is doing, and is written with when it was made."""
    skipped, shown, told = make(tmp_path, [experiment("libol"), experiment("averaging")])
    assert skipped == {}
    assert [table.name for table in shown] == ["libol", "averaging"]
    assert told == ["libol, then 1", "libol begins", "averaging, then 0", "averaging begins"]
    kept = Results.of(tmp_path).tables["libol"]
    assert kept.complete
    assert kept.lines == [FIRST, SECOND]
    assert {"date", "versions", "cores"} <= set(kept.made)


def test_a_missing_file_skips_its_table_alone(tmp_path: Path) -> None:
    """A table whose file is missing is left out with the reason, and the others are made."""
    experiments = [experiment("libol", "missing"), experiment("averaging")]
    skipped, shown, _ = make(tmp_path, experiments)
    assert skipped == {"libol": f"{VARIABLE} has no file missing.svm"}
    assert [table.name for table in shown] == ["averaging"]


def test_a_missing_file_spares_the_earlier_table(tmp_path: Path) -> None:
    """A whole table of an earlier run is not replaced by one that a missing file cut short."""
    make(tmp_path, [experiment("libol")])
    make(tmp_path, [experiment("libol", "missing")])
    assert Results.of(tmp_path).tables["libol"].complete


def test_an_interruption_keeps_what_is_finished(tmp_path: Path) -> None:
    """Ctrl-C keeps whole tables and the lines so far, and is passed on."""
    experiments = [experiment("libol"), experiment("averaging", "interrupted")]
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path, experiments)
    kept = Results.of(tmp_path).tables
    assert kept["libol"].complete
    assert not kept["averaging"].complete
    assert kept["averaging"].lines == [FIRST]


def test_resuming_makes_what_is_not_whole(tmp_path: Path) -> None:
    """Whole tables are taken from the folder, interrupted ones are made again."""
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path, [experiment("libol"), experiment("averaging", "interrupted")])
    experiments = [experiment("libol"), experiment("averaging")]
    skipped, shown, told = make(tmp_path, experiments, resume=True)
    assert skipped == {}
    assert told == ["averaging, then 0", "averaging begins"]
    assert [table.complete for table in shown] == [True, True]


def test_resuming_makes_what_older_code_made(tmp_path: Path) -> None:
    """A table of code that gave something else is made again; new words alone are taken over."""
    make(tmp_path, [experiment("libol")])
    _, _, told = make(
        tmp_path, [replace(experiment("libol"), method="in other words")], resume=True
    )
    assert told == []
    assert Results.of(tmp_path).tables["libol"].method == "in other words"
    third = Line("Claim", "c", 1.0, Estimate(1.0, 0.0, 1), tolerance=0.5)
    _, _, told = make(
        tmp_path, [replace(experiment("libol"), run=lambda _: iter([third]))], resume=True
    )
    assert told == ["libol, then 0"]
    assert Results.of(tmp_path).tables["libol"].lines == [third]


def test_a_subset_is_not_resumed_as_a_whole(tmp_path: Path) -> None:
    """A subset does not stand for the whole table; a whole table stands for the subset."""
    make(tmp_path, [experiment("libol")], quick=True)
    _, _, told = make(tmp_path, [experiment("libol")], resume=True)
    assert told == ["libol, then 0", "libol begins"]
    _, _, told = make(tmp_path, [experiment("libol")], quick=True, resume=True)
    assert told == []


def test_a_subset_replaces_no_whole_table(tmp_path: Path) -> None:
    """--quick into a folder with whole results is refused before anything is done."""
    make(tmp_path, [experiment("libol")])
    with pytest.raises(InputError, match="whole table libol, which --quick would replace"):
        make(tmp_path, [experiment("libol")], quick=True)
    whole = experiment("libol", has_subset=False)  # does the same with --quick and without
    make(tmp_path, [whole], quick=True)
    assert not Results.of(tmp_path).tables["libol"].quick
