"""The bar of a training on a cluster."""

import pytest

from rosenblatt.distributed.progress import ShardBar
from rosenblatt.training.history import PassRecord


def test_shards_and_mistakes_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """The bar tells how many shards of the epoch are done, and the mistakes so far."""
    with ShardBar(4) as bar:
        bar.watch(1, 4)
        bar(PassRecord(1, 30, 30, 1.0, None, 0.1))
        bar.watch(2, 3)
        bar(PassRecord(2, 12, 12, 1.0, 0.875, 0.1))
        bar.watch(3, 1)
    shown = capsys.readouterr().err
    assert "epoch 3" in shown
    assert "1/4" in shown
    assert "42 so far" in shown
    assert "0.8750" in shown
