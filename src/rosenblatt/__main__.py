"""The command line: ``python -m rosenblatt``."""

from rosenblatt.cli import run

run()
