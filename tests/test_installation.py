"""What is built from the sources: an archive, wheels with and without compilers, a package."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from rosenblatt.version import __version__
from tests.processes import ROOT

pytest.importorskip("hatchling")
NUMBA = "Requires-Dist: numba"


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program that must succeed."""
    done = subprocess.run(  # noqa: S603  # our own program
        [*map(str, command)],
        env=os.environ | environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def built(source: Path, folder: Path, target: str, **environment: str) -> tuple[Path, str]:
    """Build one file from a folder of sources; return it and what was said."""
    options = ("-t", target, "-d", folder)
    done = run(sys.executable, "-m", "hatchling", "build", *options, cwd=source, **environment)
    (path,) = folder.iterdir()
    return path, done.stdout + done.stderr


def metadata(wheel: Path) -> str:
    """Return the metadata of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(f"rosenblatt-{__version__}.dist-info/METADATA").decode()


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a source archive."""
    return built(ROOT, tmp_path_factory.mktemp("sdist"), "sdist")[0]


@pytest.fixture(scope="module")
def source(sdist: Path) -> Path:
    """Return the folder of a source archive that is unpacked."""
    with tarfile.open(sdist) as archive:
        archive.extractall(sdist.parents[1] / "unpacked", filter="data")
    return sdist.parents[1] / "unpacked" / f"rosenblatt-{__version__}"


def test_an_installation_from_the_source_archive(sdist: Path, tmp_path: Path) -> None:
    """It calls kernels by the C module, has the compiler of kernels among its requirements."""
    if sys.platform == "win32" or not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("no C compiler")
    environment = tmp_path / "environment"
    venv.create(environment, symlinks=True)
    python = environment / "bin" / "python"
    # What is installed here stands in for what an index would give.
    paths = {"base": str(environment), "platbase": str(environment)}
    site = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    (site / "present.pth").write_text(sysconfig.get_path("purelib") + "\n")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--ignore-installed", "--quiet")
    run(python, "-m", "pip", "install", *options, sdist, cwd=tmp_path)
    (folder,) = site.glob("rosenblatt-*.dist-info")
    assert NUMBA in (folder / "METADATA").read_text()
    assert "Tag: cp311-abi3-" in (folder / "WHEEL").read_text()
    assert (site / "rosenblatt" / "_machine.abi3.so").exists()
    program = environment / "bin" / "rosenblatt"
    cache = {"ROSENBLATT_CACHE": str(tmp_path / "cache")}
    told = json.loads(run(program, "--version", "--json", cwd=tmp_path, **cache).stdout)
    assert told["version"] == __version__
    assert told["machine_code"]["runs"] == "machine code of the cache"
    assert told["machine_code"]["called_by"] == "C"
    assert told["machine_code"]["problem"] is None
    learn = (
        "from rosenblatt import Perceptron as P; print(P().fit([[0], [1]], [0, 1]).predict([[0]]))"
    )
    done = run(python, "-W", "error", "-c", learn, cwd=tmp_path, **cache)
    assert done.stdout == "[0]\n"


def test_a_wheel_without_a_c_compiler(source: Path, tmp_path: Path) -> None:
    """It is for any platform and requires numba; the build says once what is missing."""
    empty = tmp_path / "empty"
    empty.mkdir()
    wheel, said = built(source, tmp_path / "dist", "wheel", PATH=str(empty))
    assert wheel.name == f"rosenblatt-{__version__}-py3-none-any.whl"
    assert said.count("src/rosenblatt/_machine.c is not compiled: there is no C compiler.") == 1
    assert NUMBA in metadata(wheel)


@pytest.mark.parametrize(
    ("system", "machine", "python", "versions"),
    [
        ("linux", "x86_64", "3.11", [">=0.61"]),
        ("win32", "AMD64", "3.15", [">=0.61"]),
        ("darwin", "arm64", "3.14", [">=0.61"]),
        ("darwin", "x86_64", "3.13", ["<0.63,>=0.61"]),
        ("darwin", "x86_64", "3.14", []),
        ("linux", "riscv64", "3.13", []),
        ("emscripten", "wasm32", "3.14", []),
    ],
)
def test_numba_is_required_where_it_has_wheels(
    system: str, machine: str, python: str, versions: list[str]
) -> None:
    """Elsewhere it could only be built, which takes LLVM: plain Python runs there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    given = map(Requirement, project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["compiler"])
    place = {"sys_platform": system, "platform_machine": machine, "python_version": python}
    place["platform_python_implementation"] = "CPython"
    found = [str(one.specifier) for one in given if one.marker and one.marker.evaluate(place)]
    assert found == versions


@pytest.mark.parametrize(
    ("module", "tag", "needs_compiler"),
    [("linux_z80/_machine.abi3.so", "cp311-abi3-linux_z80", False), ("none", "py3-none-any", True)],
)
def test_a_wheel_of_a_module_or_of_none(
    module: str, tag: str, needs_compiler: bool, tmp_path: Path
) -> None:
    """A wheel that brings machine code does not require numba; that for any platform does."""
    path = tmp_path / module
    if not needs_compiler:
        path.parent.mkdir()
        path.write_bytes(b"machine code")
        module = str(path)
    wheel, said = built(ROOT, tmp_path / "dist", "wheel", ROSENBLATT_MODULE=module)
    assert wheel.name == f"rosenblatt-{__version__}-{tag}.whl"
    assert (NUMBA in metadata(wheel)) is needs_compiler
    assert "Requires-Dist: numpy" in metadata(wheel)
    assert "not compiled" not in said
