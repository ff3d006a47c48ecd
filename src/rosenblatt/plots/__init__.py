"""Pictures of data, models and trainings, in the manner of scikit-learn's displays.

Each has constructors that compute (``from_estimator``, ``from_data``, ``from_trace`` …), keeps its
arrays, and draws by ``plot(ax=None)``. Names are resolved on first use; matplotlib, the extra
``plots``, is imported when something is drawn.
"""

from rosenblatt.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
