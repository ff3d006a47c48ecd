"""What makes each table.

A new table is a module with an ``EXPERIMENT``, a name in ``reproduction.TABLES`` and a line here.
"""

from reproduction import (
    averaging,
    early_stopping,
    freund_schapire,
    libol,
    mixing,
    shuffling,
    survival,
)
from reproduction.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (freund_schapire, libol, shuffling, early_stopping, averaging, survival, mixing)
}
