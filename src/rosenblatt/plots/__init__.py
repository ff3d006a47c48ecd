"""Pictures of data, models and trainings, in the manner of scikit-learn's displays.

Each has constructors that compute (``from_estimator``, ``from_data``, ``from_trace`` …), keeps its
arrays, and draws by ``plot(ax=None)``. Names are resolved on first use; matplotlib, the extra
``plots``, is imported when something is drawn.
"""

from typing import TYPE_CHECKING

from rosenblatt.lazy import lazy_names

if TYPE_CHECKING:
    from rosenblatt.plots.boundary import BoundaryDisplay
    from rosenblatt.plots.coverage import CoverageDisplay
    from rosenblatt.plots.display import Display, figure_of, write_picture
    from rosenblatt.plots.error_curves import ErrorsDisplay, OrdersDisplay
    from rosenblatt.plots.precision_recall import PrecisionRecallDisplay
    from rosenblatt.plots.projections import ProjectionsDisplay
    from rosenblatt.plots.regions import ComparisonDisplay, RegionsDisplay
    from rosenblatt.plots.reliability import ReliabilityDisplay
    from rosenblatt.plots.separability import SeparabilityDisplay
    from rosenblatt.plots.survival import SurvivalDisplay
    from rosenblatt.plots.theorem import AngleDisplay, MistakesDisplay
    from rosenblatt.plots.update import UpdateDisplay
    from rosenblatt.plots.weights import ContributionsDisplay, WeightsDisplay

__all__ = [
    "AngleDisplay",
    "BoundaryDisplay",
    "ComparisonDisplay",
    "ContributionsDisplay",
    "CoverageDisplay",
    "Display",
    "ErrorsDisplay",
    "MistakesDisplay",
    "OrdersDisplay",
    "PrecisionRecallDisplay",
    "ProjectionsDisplay",
    "RegionsDisplay",
    "ReliabilityDisplay",
    "SeparabilityDisplay",
    "SurvivalDisplay",
    "UpdateDisplay",
    "WeightsDisplay",
    "figure_of",
    "write_picture",
]

_HOMES = {
    "AngleDisplay": "theorem",
    "BoundaryDisplay": "boundary",
    "ComparisonDisplay": "regions",
    "ContributionsDisplay": "weights",
    "CoverageDisplay": "coverage",
    "Display": "display",
    "ErrorsDisplay": "error_curves",
    "MistakesDisplay": "theorem",
    "OrdersDisplay": "error_curves",
    "PrecisionRecallDisplay": "precision_recall",
    "ProjectionsDisplay": "projections",
    "RegionsDisplay": "regions",
    "ReliabilityDisplay": "reliability",
    "SeparabilityDisplay": "separability",
    "SurvivalDisplay": "survival",
    "UpdateDisplay": "update",
    "WeightsDisplay": "weights",
    "figure_of": "display",
    "write_picture": "display",
}


__getattr__ = lazy_names(
    __name__, {name: f"rosenblatt.plots.{home}" for name, home in _HOMES.items()}
)
