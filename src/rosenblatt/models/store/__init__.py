"""Model files: safetensors, and JSON and ONNX for others to read."""

from rosenblatt.models.store.file import read, write
from rosenblatt.models.store.json_form import from_json, to_json
from rosenblatt.models.store.model import Calibration, Model, Spread
from rosenblatt.models.store.onnx_form import to_onnx

__all__ = [
    "Calibration",
    "Model",
    "Spread",
    "from_json",
    "read",
    "to_json",
    "to_onnx",
    "write",
]
