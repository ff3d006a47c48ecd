"""The command line: ``python -m rosenblatt``."""

from rosenblatt.cli import main

main(prog_name="rosenblatt")
