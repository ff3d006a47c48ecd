"""Pictures of data, models and trainings, in the manner of scikit-learn's displays.

Each has constructors that compute (``from_estimator``, ``from_data``, ``from_trace`` …), keeps its
arrays, and draws by ``plot(ax=None)``. Names are resolved on first use; matplotlib, the extra
``plots``, is imported when something is drawn.
"""

from typing import TYPE_CHECKING

from rosenblatt.lazy import lazy_names

if TYPE_CHECKING:
    from rosenblatt.plots.boundary import BoundaryDisplay
    from rosenblatt.plots.confusion import ConfusionDisplay
    from rosenblatt.plots.display import Display, figure_of, write_picture
    from rosenblatt.plots.error_curves import ErrorsDisplay, OrdersDisplay
    from rosenblatt.plots.projections import ProjectionsDisplay
    from rosenblatt.plots.regions import ComparisonDisplay, RegionsDisplay
    from rosenblatt.plots.score_curves import (
        CoverageDisplay,
        PrecisionRecallDisplay,
        ReliabilityDisplay,
        RocDisplay,
    )
    from rosenblatt.plots.separability import SeparabilityDisplay
    from rosenblatt.plots.survival import SurvivalDisplay
    from rosenblatt.plots.theorem import AngleDisplay, MistakesDisplay
    from rosenblatt.plots.update import UpdateDisplay
    from rosenblatt.plots.weights import ContributionsDisplay, WeightsDisplay

__all__ = [
    "AngleDisplay",
    "BoundaryDisplay",
    "ComparisonDisplay",
    "ConfusionDisplay",
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
    "RocDisplay",
    "SeparabilityDisplay",
    "SurvivalDisplay",
    "UpdateDisplay",
    "WeightsDisplay",
    "figure_of",
    "write_picture",
]

_HOMES = {
    "boundary": ("BoundaryDisplay",),
    "confusion": ("ConfusionDisplay",),
    "display": ("Display", "figure_of", "write_picture"),
    "error_curves": ("ErrorsDisplay", "OrdersDisplay"),
    "projections": ("ProjectionsDisplay",),
    "regions": ("ComparisonDisplay", "RegionsDisplay"),
    "score_curves": (
        *("CoverageDisplay", "PrecisionRecallDisplay", "ReliabilityDisplay", "RocDisplay"),
    ),
    "separability": ("SeparabilityDisplay",),
    "survival": ("SurvivalDisplay",),
    "theorem": ("AngleDisplay", "MistakesDisplay"),
    "update": ("UpdateDisplay",),
    "weights": ("ContributionsDisplay", "WeightsDisplay"),
}
__getattr__ = lazy_names(
    __name__, {name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names}
)
