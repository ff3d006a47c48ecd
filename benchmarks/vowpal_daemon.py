"""Vowpal Wabbit's daemon, by its package on PyPI, which brings the library and no program ``vw``.

It promises less: a line of text and a line of answer on a socket, nothing on the disk, a process
for each connection, and all of them change one model in shared memory without a lock.
"""

import sys
from importlib import import_module


def serve(port: int, n_connections: int) -> None:
    """Answer on a port until the process is ended."""
    options = f"--binary --loss_function hinge --daemon --foreground --port {port}"
    library = import_module("vowpalwabbit")  # has no types
    library.Workspace(f"{options} --num_children {n_connections} --quiet").run_parser()


if __name__ == "__main__":
    serve(*map(int, sys.argv[1:]))
