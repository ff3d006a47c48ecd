"""The signs of the house are true: what each room says that it holds, it alone holds."""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from rosenblatt.cli import COMMANDS, main
from rosenblatt.rules import RULES
from tests.processes import printed

ROOT = Path(__file__).parents[1] / "src" / "rosenblatt"
EDGES = ("cli", "report", "lab", "plots", "service", "distributed")
TOP_LEVEL = {
    *EDGES,
    *(
        "theory",
        "tracing",
        "tuning",
        "estimators",
        "models",
        "training",
        "tasks",
        "mistakes",
        "data",
    ),
    "kernels",
    *("parameters", "rules", "errors", "wording", "lazy", "version"),
}
MOST_FORMAT_TESTS = 12  # isinstance of Dense and CSR outside kernels
MOST_FILES_OF_THE_LOOP = 21
SHARED_NAMES = {"Perceptron"}  # the rule, and the estimator that is named after it


@cache
def modules() -> dict[str, ast.Module]:
    """Return the syntax tree of every module by its path below the package."""
    files = sorted(ROOT.rglob("*.py"))
    return {file.relative_to(ROOT).as_posix(): ast.parse(file.read_text()) for file in files}


def room(path: str) -> str:
    """Return the top-level name that a module belongs to."""
    return path.split("/", maxsplit=1)[0].removesuffix(".py")


def imports(tree: ast.Module) -> Iterator[str]:
    """Yield the modules that a module imports anywhere, dotted."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms_that_import(*packages: str) -> set[str]:
    """Return the rooms with a module that imports one of these packages."""
    return {
        room(path)
        for path, tree in modules().items()
        if any(name.split(".")[0] in packages for name in imports(tree))
    }


def texts(tree: ast.Module) -> Iterator[str]:
    """Yield the strings of a module, documentation left out."""
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in documentation:
            yield from [node.value] if isinstance(node.value, str) else []


def test_top_level_names() -> None:
    """The package has the rooms of the plan and no others."""
    assert {room(path) for path in modules()} - {"__init__", "__main__"} <= TOP_LEVEL


def test_compiled_code_lives_in_kernels() -> None:
    """Only kernels know numba and llvmlite, and only there is anything compiled."""
    assert rooms_that_import("numba", "llvmlite") == {"kernels"}
    compiling = {"compiled", "inlined", "compiled_methods"}
    users = {
        room(path)
        for path, tree in modules().items()
        if any(name.rpartition(".")[2] in compiling for name in imports(tree))
    }
    assert users == {"kernels"}


def test_scikit_learn_stays_in_estimators_and_the_edges() -> None:
    """A floor below the estimators works without scikit-learn."""
    assert rooms_that_import("sklearn") <= {"estimators", *EDGES}


def test_rules_are_named_in_one_table() -> None:
    """No other module lists the names of several rules: all read RULES."""
    for path, tree in modules().items():
        if room(path) == "rules":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict | ast.List | ast.Tuple | ast.Set):
                held = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}
                assert len(held & RULES.keys()) < 3, f"{path}, line {node.lineno}"


def test_a_class_name_means_one_thing() -> None:
    """No two classes of the package share a name."""
    places = defaultdict(list)
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path)
    twice = {name: paths for name, paths in places.items() if len(paths) > 1}
    assert twice.keys() <= SHARED_NAMES, twice


@cache
def flags() -> frozenset[str]:
    """Return the options of all commands as they are typed."""
    found = set()
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        for parameter in command.params:
            found |= {*parameter.opts, *parameter.secondary_opts}
    return frozenset(flag for flag in found if flag.startswith("--"))


def test_flags_are_spelled_by_the_commands_alone() -> None:
    """A sentence from elsewhere names a parameter, which Python and a command spell differently."""
    typed = re.compile(r"(?<!var\()--[a-z-]+")
    found = {
        path: words
        for path, tree in modules().items()
        if room(path) != "cli"
        and (words := flags().intersection(typed.findall(" ".join(texts(tree)))))
    }
    assert not found


def test_row_formats_are_told_apart_in_kernels() -> None:
    """Dense and CSR rows are distinguished elsewhere in a dozen places at most."""
    pattern = re.compile(r"isinstance\([^)]*\b(Dense|CSR)\b")
    places = [
        f"{path}: {line.strip()}"
        for path in modules()
        if room(path) != "kernels"
        for line in (ROOT / path).read_text().splitlines()
        if pattern.search(line)
    ]
    assert len(places) <= MOST_FORMAT_TESTS, places


def test_sparse_rows_are_one_record_on_their_way_to_the_kernel() -> None:
    """Values, features and row ends stand together in a batch and, for kernels, in CSR alone."""
    fields = {"data", "indices", "indptr"}
    records = {
        node.name
        for tree in modules().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and fields
        <= {ast.unparse(one.target) for one in node.body if isinstance(one, ast.AnnAssign)}
    }
    assert records == {"Batch", "CSR"}


def closure(start: str) -> set[str]:
    """Return the modules that one module imports when it is imported, and those of theirs."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        for node in modules()[path].body:
            if not isinstance(node, ast.ImportFrom) or node.module is None:
                continue
            base = node.module.removeprefix("rosenblatt").lstrip(".").replace(".", "/")
            names = [base, *(f"{base}/{alias.name}" for alias in node.names)]
            waiting += [
                file
                for name in names
                if node.module.startswith("rosenblatt")
                for file in (f"{name}.py", f"{name}/__init__.py")
                if file in modules()
            ]
    return found


def test_the_loop_knows_neither_votes_nor_readers() -> None:
    """The loop over passes imports a small house of its own, without mistakes, data and models."""
    files = closure("training/loop.py")
    assert {room(file) for file in files} <= {"training", "kernels", "rules", "errors", "wording"}
    assert len(files) <= MOST_FILES_OF_THE_LOOP, sorted(files)


class Size(NamedTuple):
    """The size of what a room is made of."""

    longest_function: int  # lines, with its docstring
    most_arguments: int  # of a function
    long_functions: int  # of more than 60 lines
    wide_functions: int  # of more than 10 arguments
    sparse_records: int  # classes with a field ``indptr``
    local_imports: int  # of own modules, within functions


# The brake: a change that raises a figure changes it here, and its commit says why.
SIZES: dict[str, Size] = {
    "__init__": Size(0, 0, 0, 0, 0, 0),
    "__main__": Size(0, 0, 0, 0, 0, 0),
    "cli": Size(67, 12, 2, 1, 0, 25),
    "data": Size(54, 8, 0, 0, 1, 1),
    "distributed": Size(55, 10, 0, 0, 0, 1),
    "errors": Size(16, 2, 0, 0, 0, 0),
    "estimators": Size(49, 9, 0, 0, 0, 0),
    "kernels": Size(67, 11, 1, 1, 1, 0),
    "lab": Size(40, 6, 0, 0, 0, 0),
    "lazy": Size(34, 3, 0, 0, 0, 0),
    "mistakes": Size(60, 9, 0, 0, 0, 0),
    "models": Size(61, 9, 1, 0, 0, 10),
    "parameters": Size(26, 3, 0, 0, 0, 0),
    "plots": Size(49, 9, 0, 0, 0, 4),
    "report": Size(46, 7, 0, 0, 0, 0),
    "rules": Size(21, 3, 0, 0, 0, 0),
    "service": Size(42, 7, 0, 0, 0, 0),
    "tasks": Size(60, 10, 0, 0, 0, 0),
    "theory": Size(59, 7, 0, 0, 0, 2),
    "tracing": Size(108, 13, 1, 1, 0, 0),
    "training": Size(63, 10, 1, 0, 0, 0),
    "tuning": Size(79, 10, 1, 0, 0, 0),
    "version": Size(0, 0, 0, 0, 0, 0),
    "wording": Size(17, 3, 0, 0, 0, 0),
}
MOST_FILES = {"dense": 19, "csv": 61}  # that a row passes in fit, and in ``rosenblatt train``


@cache
def size(name: str) -> Size:
    """Measure a room."""
    paths = [path for path in modules() if room(path) == name]
    trees = [modules()[path] for path in paths]
    functions = [
        node
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    lengths = [(node.end_lineno or 0) - node.lineno + 1 for node in functions]
    widths = [
        len([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]) for node in functions
    ]
    local = {id(node): node for function in functions for node in ast.walk(function)}
    fields = [
        node.target.id
        for tree in trees
        for owner in ast.walk(tree)
        if isinstance(owner, ast.ClassDef)
        for node in owner.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]
    return Size(
        longest_function=max(lengths, default=0),
        most_arguments=max(widths, default=0),
        long_functions=sum(length > 60 for length in lengths),
        wide_functions=sum(width > 10 for width in widths),
        sparse_records=fields.count("indptr"),
        local_imports=sum(
            any(name.split(".")[0] == "rosenblatt" for name in imports(ast.Module([node], [])))
            for node in local.values()
            if isinstance(node, ast.Import | ast.ImportFrom)
        ),
    )


@pytest.mark.parametrize("column", Size._fields)
def test_no_room_grows(column: str) -> None:
    """What comes next pays for its functions, arguments, records and imports."""
    found = {name: getattr(size(name), column) for name in sorted({*map(room, modules())})}
    table = {name: getattr(SIZES[name], column) for name in found}
    assert {name: n for name, n in found.items() if n > table[name]} == {}, table


class Spread(NamedTuple):
    """On how many lines, of how many files, a question may be asked outside its room."""

    lines: int
    files: int


# A question that one room answers: what asks it, where it may, and how often elsewhere. A feature
# that raises a figure is in the wrong room.
QUESTIONS: dict[str, tuple[str, tuple[str, ...], Spread]] = {
    "one label or several": (
        (
            r"\b(several|several_labels|LabelSets|label_sets|label_losses|has_label|\w*_label_pass"
            r"|ranking_pass|of_labels?|label_thresholds|goal|GOALS|LABELS\w*|Multilabel\w*"
            r"|LabelEvaluation)\b"
        ),
        ("tasks", "multilabel", "label_thresholds", "parameters", "models/file"),
        Spread(41, 20),
    ),
    "votes": (
        r"\b(voted|is_voted|votes_decide|_votes_decide|n_voting|Tally|vote_\w+)\b",
        ("tasks", "voted", "mistakes", "training/memory", "parameters", "models/file"),
        Spread(17, 8),
    ),
    "weights or kernel": (
        r"\b(is_kernel|KernelMachine|kernel_machine|machine_arrays|check_weights)\b|\.machine\b",
        ("mistakes", "kernel", "parameters", "models/file"),
        Spread(10, 2),
    ),
    "rows held out": (
        (
            r"\b(held_out\w*|HeldOut\w*|TriedRows|tried_error|tried_line|tried_by"
            r"|validation_fraction|RowDraw)\b"
        ),
        ("holdout", "held_out", "parameters"),
        Spread(59, 20),
    ),
}
MOST_FOREIGN_WRITES = 47  # attributes set of an object that was not made in the same function
MOST_LINES = 71_000  # of the package
MOST_IMPORTS_OF_THE_MODEL = 15  # modules of the house that models/model.py imports


def code_lines(path: str) -> Iterator[str]:
    """Yield the lines of a module without documentation, comments, imports and blank ones."""
    documentation = {
        number
        for node in ast.walk(modules()[path])
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node) is not None
        for number in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
        plain = line.lstrip()
        if (
            number not in documentation
            and plain
            and not plain.startswith(("#", "from ", "import "))
        ):
            yield line


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_in_one_room(question: str) -> None:
    """Outside the room that answers it a question is asked on few lines of few files."""
    pattern, homes, most = QUESTIONS[question]
    asked = {
        path: found
        for path in modules()
        if not any(home in path for home in homes)
        and (found := sum(bool(re.search(pattern, line)) for line in code_lines(path)))
    }
    assert sum(asked.values()) <= most.lines, asked
    assert len(asked) <= most.files, asked


def foreign_writes(path: str) -> set[tuple[str, str]]:
    """Return where attributes are set of what is not self and was not made in the same function."""
    found = set()
    for function in ast.walk(modules()[path]):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        nodes = [*ast.walk(function)]
        made = {
            target.id
            for node in nodes
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in nodes:
            targets = node.targets if isinstance(node, ast.Assign) else []
            if isinstance(node, ast.AugAssign | ast.AnnAssign):
                targets = [node.target]
            parts = [p for t in targets for p in (t.elts if isinstance(t, ast.Tuple) else [t])]
            for part in parts:
                if isinstance(part, ast.Attribute) and not is_own(part, made):
                    found.add((f"{path}:{part.lineno}", ast.unparse(part)))
    return found


def is_own(part: ast.Attribute, made: set[str]) -> bool:
    """Return whether an attribute is one of self, or of an object that the function has made."""
    base: ast.expr = part.value
    while isinstance(base, ast.Attribute):
        base = base.value
    if not isinstance(base, ast.Name):
        return False
    return base.id in made or (base.id in {"self", "cls"} and isinstance(part.value, ast.Name))


def test_nothing_is_steered_from_outside() -> None:
    """The attributes of another object are seldom set."""
    found = set().union(*(foreign_writes(path) for path in modules()))
    assert len(found) <= MOST_FOREIGN_WRITES, sorted(found)


def test_the_house_does_not_grow() -> None:
    """The package has at most so many lines, and the model knows few modules."""
    lines = sum(len((ROOT / path).read_text().splitlines()) for path in modules())
    assert lines <= MOST_LINES
    names = {name.rpartition(".")[0] for name in imports(modules()["models/model.py"])}
    own = {name for name in names if name.startswith("rosenblatt")}
    assert len(own) <= MOST_IMPORTS_OF_THE_MODEL, sorted(own)


COUNT = """
import os, sys, threading
from pathlib import Path
import rosenblatt
from rosenblatt import Perceptron
from rosenblatt.cli import main

ROOT = Path(rosenblatt.__file__).parent
found, called = set(), {}  # files; functions in the order in which they are called

def note(frame, _event, _argument):
    file = Path(frame.f_code.co_filename)
    if file.is_relative_to(ROOT):
        found.add(file.relative_to(ROOT).as_posix())
        called.setdefault(frame.f_code.co_qualname)

def fit():
    X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 0, 0, 1]
    Perceptron().fit(X, y)

def train():
    os.chdir(sys.argv[2])
    command = ["train", "table.csv", "--label", "y", "-o", "table.model", "--json"]
    sys.stdout = sys.stderr
    main.main(command, standalone_mode=False)
    sys.stdout = sys.__stdout__

action = {"dense": fit, "csv": train}[sys.argv[1]]
action()  # imports
threading.settrace(note)  # readers run ahead in threads
sys.settrace(note)
action()
sys.settrace(None)
print(*sorted(found), "", *called, sep="\\n")
"""


FILE = r"`([a-z_/]+\.py)`"


def way_of_a_row(way: str, folder: Path) -> tuple[set[str], list[str]]:
    """Return the files with a function that runs, and these functions: all in plain Python."""
    files, _, functions = printed(COUNT, way, str(folder), ROSENBLATT_PLAIN="1").partition("\n\n")
    return {*files.split()}, functions.splitlines()


def test_a_dense_row_is_soon_at_its_weight(tmp_path: Path) -> None:
    """From fit to the changed weight a newcomer reads few files, and none of votes or readers."""
    files, _ = way_of_a_row("dense", tmp_path)
    assert len(files) <= MOST_FILES["dense"], sorted(files)
    assert {room(file) for file in files} == {
        *("estimators", "models", "training", "tasks", "kernels", "rules", "parameters")
    }
    listed = (ROOT.parents[1] / "CONTRIBUTING.md").read_text()
    shown = re.search(r"reaches its weight through (\d+) files.*?\n\n", listed, re.DOTALL)
    assert shown
    assert int(shown[1]) == len(files)
    assert {*re.findall(FILE, shown[0])} - {"tests/test_house.py"} == files


def test_a_csv_row_is_soon_at_its_weight(tmp_path: Path) -> None:
    """From a line of a table to the changed weight: command, readers, encoding, supply, loop."""
    table = tmp_path / "table.csv"
    rows = (f"{k % 5},{k % 7},{int(k % 5 + k % 7 > 5)}\n" for k in range(40))
    table.write_text("a,b,y\n" + "".join(rows))
    files, functions = way_of_a_row("csv", tmp_path)
    assert len(files) <= MOST_FILES["csv"], sorted(files)
    listed = (ROOT.parents[1] / "CONTRIBUTING.md").read_text()
    pattern = r"A row of a CSV file .* through (\d+) files.*?\n\n.*?\n\n"
    shown = re.search(pattern, listed, re.DOTALL)
    assert shown
    assert {*re.findall(FILE, shown[0])} == files
    assert int(shown[1]) == len(files)
    stages = re.findall(r"`([A-Za-z_.]+)`", re.sub(FILE, "", shown[0]))
    assert stages == sorted(stages, key=functions.index)  # nothing turns back


def docstring(path: str) -> str:
    """Return what a module says of itself, on one line."""
    return " ".join((ast.get_docstring(modules()[path]) or "").split())


def decorated(tree: ast.Module, name: str) -> Iterator[ast.FunctionDef]:
    """Yield the functions with this decorator."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(
            isinstance(one, ast.Name) and one.id == name for one in node.decorator_list
        ):
            yield node


def test_rules_need_the_standard_library_alone() -> None:
    """The mathematics imports nothing but Python's own modules and the package's errors."""
    assert "Standard library only." in docstring("rules/__init__.py")
    for path, tree in modules().items():
        if room(path) == "rules":
            names = {".".join(name.split(".")[:2]) for name in imports(tree)}
            others = {name for name in names if name.split(".")[0] not in sys.stdlib_module_names}
            assert others <= {"rosenblatt.rules", "rosenblatt.errors", "rosenblatt.wording"}, path


def test_kernels_make_a_pass_and_nothing_else() -> None:
    """Compiled functions draw no random numbers, print nothing and raise nothing."""
    sign = "it draws no random numbers, prints nothing and raises nothing"
    assert sign in docstring("kernels/__init__.py")
    kernels = [
        (path, function)
        for path, tree in modules().items()
        if room(path) == "kernels"
        for name in ("compiled", "inlined")
        for function in decorated(tree, name)
    ]
    assert len(kernels) > 40
    for path, function in kernels:
        for node in ast.walk(function):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            assert not isinstance(node, ast.Raise | ast.Assert), (path, function.name)
            assert called != "print", (path, function.name)
            assert "random" not in called, (path, function.name)


def test_only_the_progress_bar_writes_to_the_terminal() -> None:
    """Nothing else in training prints, or knows the console and the standard streams."""
    assert "only ``ProgressBar`` writes to the terminal" in docstring("training/__init__.py")
    writers = {
        path
        for path, tree in modules().items()
        if room(path) == "training"
        for node in ast.walk(tree)
        if (isinstance(node, ast.Name) and node.id in {"print", "Console"})
        or (isinstance(node, ast.Attribute) and node.attr in {"stdout", "stderr"})
    }
    assert writers == {"training/history.py"}


def test_data_know_nothing_of_learning() -> None:
    """Readers and encodings import no rule, training, mistake or model."""
    assert "knows nothing of learning" in docstring("data/__init__.py")
    upward = {"rules", "training", "mistakes", "models", "estimators", "theory", "tracing"}
    for path, tree in modules().items():
        if room(path) == "data":
            rooms = {name.split(".")[1] for name in imports(tree) if name.startswith("rosenblatt.")}
            assert not rooms & upward, path


def test_mixing_needs_no_dask() -> None:
    """The mathematics of shards and its simulation import nothing of Dask."""
    assert "needs no Dask" in docstring("distributed/__init__.py")
    for path in closure("distributed/mixing.py"):
        names = {name.split(".")[0] for name in imports(modules()[path])}
        assert not names & {"dask", "distributed"}, path


def test_matplotlib_is_imported_when_something_is_drawn() -> None:
    """No module of plots imports matplotlib at its top, but for type checkers."""
    assert "imported when something is drawn" in docstring("plots/__init__.py")
    for path, tree in modules().items():
        if room(path) == "plots":
            top = ast.Module(
                [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)], []
            )
            assert "matplotlib" not in {name.split(".")[0] for name in imports(top)}, path


def test_each_command_has_a_file() -> None:
    """The command line is one file a command, which holds the command of its name."""
    assert "one file a command" in docstring("cli/__init__.py")
    for name in COMMANDS:
        functions = modules()[f"cli/{name}.py"].body
        assert name in {node.name for node in functions if isinstance(node, ast.FunctionDef)}
