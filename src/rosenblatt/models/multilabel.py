"""One label of a model whose rows may have several: a model of two classes."""

from dataclasses import replace
from typing import Any

from rosenblatt.data.labels import sides_of
from rosenblatt.errors import InputError
from rosenblatt.mistakes.updates import Mistakes, label_steps
from rosenblatt.models.bias import shifted
from rosenblatt.models.learner_record import LearnerRecord
from rosenblatt.models.model import Class, Model
from rosenblatt.models.record import TrainingFacts
from rosenblatt.models.weights import Weights
from rosenblatt.tasks import CLASSES, task_of
from rosenblatt.tasks.label_sets import SIGMOIDS
from rosenblatt.wording import word_list


def of_label(model: Model, label: Class) -> Model:
    """Return the model of two classes that tells rows with one of several labels from others.

    Its scores are lower by the threshold of the label, which is then 0; where no label is above
    its own, the best one may be predicted all the same, and that is left out here.
    """
    if label not in model.classes:
        known = word_list(model.classes)
        raise InputError(f"The model knows no label {label!r}; it knows {known}.")
    number, learner = model.classes.index(label), replace(model.made_by.learner, task=CLASSES)
    calibration = model.calibration
    if calibration is not None:
        slope, offset = model.arrays[SIGMOIDS][:, number].tolist()
        calibration = replace(calibration, slope=slope, offset=offset)
    training: TrainingFacts = model.training | {"title": learner.title}
    if "class_counts" in training:
        own = training["class_counts"][number]
        training["class_counts"] = [training["n_rows"] - own, own]
    training.pop("label_type", None)
    alone = replace(
        model,
        machine=_weights_of(model.linear, number),
        made_by=LearnerRecord.of(learner),
        classes=sides_of(label),
        calibration=calibration,
        # The history counts rows with any label on the wrong side
        record=replace(model.record, history=(), training=training),
        arrays={},
    )
    return shifted(alone, model.thresholds[number].item())


def alone(model: Model, number: int) -> Model:
    """Return what decides on a class: the model itself, or of labels the model of that one."""
    return model if model.task.contrasts else of_label(model, model.classes[number])


def _weights_of(weights: Weights, number: int) -> Weights:
    """Return those of one of several labels, by number."""
    parts: dict[str, Any] = {"constant": weights.constant, "count": weights.count}
    for name, part in weights.vectors.items():
        parts[name] = part[number : number + 1]
    mistakes = every = weights.mistakes
    if every is not None:
        mistakes = Mistakes(label_steps(every.updates, number), every.end, every.support)
    return Weights.of_arrays(task_of(CLASSES, 2), listed=mistakes, **parts)
