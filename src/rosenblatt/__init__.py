"""The perceptron family, with the scikit-learn interface.

Public names are resolved on first use, so that a command that needs none of them starts at once:
scikit-learn alone takes a second to import.
"""

import _signal  # type: ignore[import-not-found]  # signal would import others first
import os as _os
import sys as _sys

_is_program = _sys.orig_argv[1:3] == ["-m", "rosenblatt"] or _os.path.split(
    "".join(getattr(_sys, "argv", ())[:1])
)[1] in ("rosenblatt", "rosenblatt.exe")
if _is_program and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    # Ctrl-C ends the program without a traceback, from its first import on
    _signal.signal(_signal.SIGINT, lambda *_: _os.write(2, b"Interrupted.\n") and _os._exit(130))

from rosenblatt.lazy import lazy_names  # noqa: E402
from rosenblatt.version import __version__ as __version__  # noqa: E402

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
