"""Pictures of data, models and trainings, in the manner of scikit-learn's displays.

Each has constructors that compute (``from_estimator``, ``from_data``, ``from_trace`` …), keeps its
arrays, and draws by ``plot(ax=None)``. Names are resolved on first use; matplotlib, the extra
``plots``, is imported when something is drawn.
"""

from typing import TYPE_CHECKING

from rosenblatt.lazy import lazy_names

if TYPE_CHECKING:
    from rosenblatt.plots.angle import AngleDisplay
    from rosenblatt.plots.boundary import BoundaryDisplay
    from rosenblatt.plots.canvas import Display, figure_of
    from rosenblatt.plots.comparison import ComparisonDisplay
    from rosenblatt.plots.contributions import ContributionsDisplay
    from rosenblatt.plots.coverage import CoverageDisplay
    from rosenblatt.plots.errors import ErrorsDisplay
    from rosenblatt.plots.mistakes import MistakesDisplay
    from rosenblatt.plots.orders import OrdersDisplay
    from rosenblatt.plots.picture_file import write_picture
    from rosenblatt.plots.projections import ProjectionsDisplay
    from rosenblatt.plots.regions import RegionsDisplay
    from rosenblatt.plots.separability import SeparabilityDisplay
    from rosenblatt.plots.survival import SurvivalDisplay
    from rosenblatt.plots.update import UpdateDisplay
    from rosenblatt.plots.weights import WeightsDisplay

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
    "ProjectionsDisplay",
    "RegionsDisplay",
    "SeparabilityDisplay",
    "SurvivalDisplay",
    "UpdateDisplay",
    "WeightsDisplay",
    "figure_of",
    "write_picture",
]

_HOMES = {
    "AngleDisplay": "angle",
    "BoundaryDisplay": "boundary",
    "ComparisonDisplay": "comparison",
    "ContributionsDisplay": "contributions",
    "CoverageDisplay": "coverage",
    "Display": "canvas",
    "ErrorsDisplay": "errors",
    "MistakesDisplay": "mistakes",
    "OrdersDisplay": "orders",
    "ProjectionsDisplay": "projections",
    "RegionsDisplay": "regions",
    "SeparabilityDisplay": "separability",
    "SurvivalDisplay": "survival",
    "UpdateDisplay": "update",
    "WeightsDisplay": "weights",
    "figure_of": "canvas",
    "write_picture": "picture_file",
}


__getattr__ = lazy_names(
    __name__, {name: f"rosenblatt.plots.{home}" for name, home in _HOMES.items()}
)
