"""Training step by step: what each row met and did, and the forms to read it in.

Names are resolved on first use: ``trace`` checks its input as the estimators do and so imports
scikit-learn, which takes a second, and a command goes without.
"""

from rosenblatt.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
