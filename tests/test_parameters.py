"""The one description of every parameter: what reads it, and what it says."""

import inspect
from dataclasses import MISSING, fields

import numpy as np
import pytest

import rosenblatt
from rosenblatt.data.files import Columns, Layout
from rosenblatt.errors import InputError
from rosenblatt.parameters import (
    CHECKS,
    ESTIMATOR_SETTINGS,
    SETTINGS,
    TrainingSettings,
    check_parameters,
    check_setting,
)


def test_every_parameter_has_a_sentence() -> None:
    """Help and docs say something of each, in whole sentences."""
    for name, setting in ESTIMATOR_SETTINGS.items():
        assert str(setting.sentence)[0].isupper() or setting.sentence[0] in "\"'2γ", name
        assert setting.text.endswith("."), name


def test_records_have_the_defaults_of_the_table() -> None:
    """What a record of columns or of a layout leaves open is what the table leaves open."""
    for kind in (Columns, Layout):
        for field in fields(kind):
            if field.default is not MISSING:
                assert field.default == SETTINGS[field.name].default, field.name


def test_train_files_lists_its_keywords() -> None:
    """Signature and docs have every keyword with its default, though they are typed elsewhere."""
    listed = inspect.signature(rosenblatt.train_files).parameters
    assert [*listed] == ["paths", *TrainingSettings.__annotations__]
    assert listed["validation_fraction"].default == 0.1
    assert listed["label"].annotation == str | None
    text = inspect.getdoc(rosenblatt.train_files) or ""
    assert all(f"\n{name} : " in text for name in TrainingSettings.__annotations__)
    assert "\nlabel : str, default detected\n    Column that holds the labels" in text
    assert "\nn_iter_no_change : an integer of at least 1, default 5\n" in text


@pytest.mark.parametrize(
    ("name", "value"),
    [("average", np.True_), ("max_iter", np.int32(3)), ("random_state", np.random.default_rng())],
)
def test_numpys_values_are_taken(name: str, value: object) -> None:
    """Flags, numbers and generators of NumPy are what they look like."""
    check_parameters("Perceptron", {name: value})


@pytest.mark.parametrize("value", [0, True, 1.5, "3", None, np.array([True])])
def test_counts_are_integers(value: object) -> None:
    """What is no integer of at least 1 is refused with the words of the table."""
    assert not CHECKS["max_iter"].accepts(value)
    with pytest.raises(InputError, match="max_iter of X must be an integer of at least 1; got"):
        check_parameters("X", {"max_iter": value})


def test_ranges_of_settings() -> None:
    """Both ends of a range of whole numbers belong to it."""
    check_setting("hash_bits", 30)
    with pytest.raises(InputError, match="hash_bits must be a whole number from 1 to 30; got 31"):
        check_setting("hash_bits", 31)
