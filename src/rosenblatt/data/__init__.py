"""Files to batches of rows; knows nothing of learning."""

from rosenblatt.data.batch import Batch, join
from rosenblatt.data.labels import Classes, Label
from rosenblatt.data.svmlight import svmlight_batches

__all__ = ["Batch", "Classes", "Label", "join", "svmlight_batches"]
