"""What a training on a cluster leaves behind in the plain estimator."""

from typing import Any

from rosenblatt.distributed.files import Read
from rosenblatt.distributed.fitting import Collected, Fitted
from rosenblatt.estimators.stored import Loaded


def fill(plain: Any, collected: Collected, fitted: Fitted) -> None:
    """Change a plain estimator to be fitted as the cluster was."""
    plain.classes_, plain.n_features_in_ = collected.classes, collected.n_features
    plain._state = fitted.state  # noqa: SLF001  # ours
    plain._keep(fitted.outcome)  # noqa: SLF001


def remember(plain: Any, read: Read, fitted: Fitted) -> None:
    """Give a fitted estimator what it would have if it had been loaded from its model file."""
    encoding, verdict, collected = read.encoding, fitted.verdict, read.collected
    parts = {
        "encoding": encoding.as_json(),
        "encoding_arrays": encoding.arrays(),
        "feature_names": None,
        "spread": fitted.spread,
        "calibration": None,
        "verdict": None if verdict is None else verdict.as_json(),
        "outcome": {"n_learned": fitted.outcome.n_rows},
        "training": {
            "files": read.names,
            "format": str(read.format),
            "n_rows": int(sum(collected.lengths)),
            "class_counts": collected.class_counts.tolist(),
            "held_out_rows": fitted.n_held_out,
            "held_out_error": fitted.held_out_error,
            "n_wrong": fitted.n_wrong,
        },
    }
    plain.encoding_ = encoding
    plain._loaded = Loaded(parts, plain.history_, plain.n_iter_)  # noqa: SLF001  # ours
