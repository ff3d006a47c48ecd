"""Files that suffered accidents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.fuzzing import attempt, fuzz, seeds
from tests.models.models import assert_same
from tests.models.written import summed


def test_the_seeds_are_good() -> None:
    """Before the accidents every file is a model."""
    assert all(attempt(data) is not None for data in seeds())


def test_mutated_files() -> None:
    """Each is a good model or gets a sentence; some are good, most are not."""
    assert 10 < fuzz(1000, seed=0) < 500


@pytest.mark.explore
def test_many_mutated_files(random_seed: int) -> None:
    """So does every one of many more."""
    assert 300 < fuzz(100_000, random_seed) < 50_000


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    """Bytes that nobody wrote as a model are none."""
    assert attempt(data) is None
    assert attempt(len(data).to_bytes(8, "little") + b"{" + data) is None


@given(st.sampled_from(seeds()), st.data())
def test_one_changed_byte(data: bytes, draw: st.DataObject) -> None:
    """Where the checksum matches, a changed byte gives another model or a sentence."""
    place = draw.draw(st.integers(0, len(data) - 1))
    byte = draw.draw(st.binary(min_size=1, max_size=1))
    changed = data[:place] + byte + data[place + 1 :]
    model = attempt(summed(changed))
    if changed == data:
        assert model is not None
        assert_same(model, attempt(data))
