"""``python -m machine_code.check``: take the tour with the machine code of the package alone."""

import sys
from importlib.util import find_spec

import click

from machine_code.tour import walk
from rosenblatt.kernels.compiling import machine


def main() -> str | None:
    """Return what is wrong, or None."""
    if find_spec("numba") is not None:
        return "numba is installed here: nothing would be missed."
    if machine.machine_code_source() != "package":
        return "This package has no machine code for this machine."
    walk()
    missing = sorted(machine.missing_code())
    if missing:
        return "\n".join([f"{len(missing)} signatures have no machine code:", *missing])
    click.echo(f"{machine.processor()}: all that commands and estimators call is there.")
    return None


if __name__ == "__main__":
    sys.exit(main())
