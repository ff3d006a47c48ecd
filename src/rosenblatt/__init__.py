"""The perceptron family, with the scikit-learn interface.

Public names are resolved on first use, so that a command that needs none of them starts at once:
scikit-learn alone takes a second to import.
"""

from rosenblatt.lazy import lazy_names
from rosenblatt.version import __version__ as __version__  # offered here, too

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
