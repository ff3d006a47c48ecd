"""A bias that is moved once it is learned: to a threshold, or to where both classes are at ½."""

from dataclasses import replace
from typing import TYPE_CHECKING

from rosenblatt.models.model import Model
from rosenblatt.tasks.calibration import Calibration

if TYPE_CHECKING:
    from rosenblatt.tasks.metrics import Threshold


def bias_shift(model: Model) -> float:
    """Return by which threshold the bias of a model was moved; learning on takes it back."""
    shift: float = model.training.get("bias_moved", 0.0)
    return shift


def with_threshold(model: Model, threshold: "Threshold") -> Model:
    """Return a model of two classes whose scores are above 0 where they were above this."""
    moved = shifted(model, threshold.value)
    return moved.with_facts({"threshold": threshold._asdict(), "held_out_error": threshold.error})


def with_calibration(model: Model, calibration: Calibration) -> Model:
    """Return a model with probabilities; of two classes the bias moves to where both are ½."""
    slope, offset = calibration.slope, calibration.offset
    if offset == 0.0:
        return replace(model, calibration=calibration)
    at_zero = replace(calibration, offset=0.0)  # slope 0: the scores say nothing
    return replace(model if slope == 0.0 else shifted(model, -offset / slope), calibration=at_zero)


def shifted(model: Model, threshold: float) -> Model:
    """Return a model whose scores are lower by this; learning on takes it back."""
    calibration = model.calibration
    if calibration is not None:
        offset = calibration.offset + calibration.slope * threshold
        calibration = replace(calibration, offset=offset)
    machine = model.linear.moved(-threshold)
    moved = bias_shift(model) + threshold
    return model.with_facts({"bias_moved": moved}, machine=machine, calibration=calibration)
