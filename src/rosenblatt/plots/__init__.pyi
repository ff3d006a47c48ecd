from rosenblatt.plots.boundary import BoundaryDisplay as BoundaryDisplay
from rosenblatt.plots.confusion import ConfusionDisplay as ConfusionDisplay
from rosenblatt.plots.display import Display as Display
from rosenblatt.plots.display import figure_of as figure_of
from rosenblatt.plots.display import write_picture as write_picture
from rosenblatt.plots.error_curves import ErrorsDisplay as ErrorsDisplay
from rosenblatt.plots.error_curves import OrdersDisplay as OrdersDisplay
from rosenblatt.plots.projections import ProjectionsDisplay as ProjectionsDisplay
from rosenblatt.plots.regions import ComparisonDisplay as ComparisonDisplay
from rosenblatt.plots.regions import RegionsDisplay as RegionsDisplay
from rosenblatt.plots.score_curves import CoverageDisplay as CoverageDisplay
from rosenblatt.plots.score_curves import PrecisionRecallDisplay as PrecisionRecallDisplay
from rosenblatt.plots.score_curves import ReliabilityDisplay as ReliabilityDisplay
from rosenblatt.plots.score_curves import RocDisplay as RocDisplay
from rosenblatt.plots.separability import SeparabilityDisplay as SeparabilityDisplay
from rosenblatt.plots.shape import ShapeDisplay as ShapeDisplay
from rosenblatt.plots.survival import SurvivalDisplay as SurvivalDisplay
from rosenblatt.plots.theorem import AngleDisplay as AngleDisplay
from rosenblatt.plots.theorem import MistakesDisplay as MistakesDisplay
from rosenblatt.plots.update import UpdateDisplay as UpdateDisplay
from rosenblatt.plots.weights import ContributionsDisplay as ContributionsDisplay
from rosenblatt.plots.weights import WeightsDisplay as WeightsDisplay

__all__: list[str]  # noqa: PYI035  # made from these lines
