"""``python -m machine_code``: compile and link for wheels all that the tour calls."""

import os
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from machine_code.compilation import compile_objects
from machine_code.linking import link_module
from machine_code.platforms import PLATFORMS, this_platform
from machine_code.tour import recorded


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default="build/machine_code",
    show_default=True,
    help="Folder to write to: an extension module for each platform, below the tag of its wheel.",
)
@click.option(
    "--platform",
    "platforms",
    multiple=True,
    type=click.Choice([*PLATFORMS, "all"]),
    default=(this_platform(),),
    show_default=True,
    help="Platform to compile for (repeatable).",
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=os.cpu_count(),
    show_default=True,
    help="Number of processes.",
)
@click.option("--list", "listing", is_flag=True, help="Print the signatures and compile nothing.")
def build(output: Path, platforms: tuple[str, ...], jobs: int, *, listing: bool) -> None:
    """Compile every kernel for every signature that the library reaches with documented types."""
    platforms = tuple(PLATFORMS) if "all" in platforms else platforms
    calls = _timed("tour of the library", lambda: recorded(jobs))
    if listing:
        click.echo("\n".join(sorted(calls)))
        return
    objects = output / "objects"
    results = _timed(
        f"compilation of {len(calls):,} signatures",
        lambda: compile_objects(calls, platforms, objects, jobs),
    )
    for name in platforms:
        place = output / PLATFORMS[name].tag
        module = _timed(
            f"linking for {name}",
            lambda name=name, place=place: link_module(
                PLATFORMS[name], objects / name, results, place
            ),
        )
        module.with_name("kernels.txt").write_text("\n".join(sorted(calls)) + "\n")
        click.echo(f"{module}: {module.stat().st_size / 1e6:.1f} MB", err=True)


def _timed(what: str, work: Any) -> Any:
    started = perf_counter()
    result = work()
    click.echo(f"{what}: {perf_counter() - started:.0f} s", err=True)
    return result


if __name__ == "__main__":
    build()
