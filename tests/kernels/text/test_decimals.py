from typing import Any

import numpy as np
import pytest

from rosenblatt.data import svmlight
from rosenblatt.data.svmlight import LineError
from tests.kernels.text import decimal_text

PER_FAMILY = 25_000


@pytest.mark.parametrize("family", decimal_text.FAMILIES, ids=lambda family: family.__name__)
def test_values_are_the_doubles_that_float_gives(family: Any) -> None:
    """Every decimal becomes the correctly rounded double, bit for bit."""
    generator = decimal_text.Generator(2)
    decimal_text.compare([family(generator) for _ in range(PER_FAMILY)])


def test_every_power_of_ten_is_exact() -> None:
    """Every entry of the table of powers is used and right, for the least and the most digits."""
    digits = ("1", "9", "9007199254740993", "9999999999999999999", "1000000000000000001")
    decimal_text.compare(
        [f"{d}e{k}" for d in digits for k in range(-370, 309) if float(f"{d}e{k}") < np.inf]
    )


def test_zeros_keep_their_sign_and_their_length_does_not_matter() -> None:
    """Zeros before and behind, and zero itself with either sign, are read as float reads them."""
    decimal_text.compare(
        ["0", "-0", "+0", "-0.0", "0e99", "-0e-9999", "." + "0" * 400, "00000000000000000000001"]
        + ["0." + "0" * k + "123" for k in range(330)]
        + ["123" + "0" * k for k in range(300)]
        + ["1" * k + "." + "1" * (40 - k) for k in range(41)]
    )


def test_nineteen_digits_never_need_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled conversion decides every number of up to 19 digits by itself."""

    def refuse(line: bytes, *_: object) -> None:
        raise AssertionError(line)

    monkeypatch.setattr(svmlight, "parse_line", refuse)
    generator = decimal_text.Generator(3)
    tokens = [decimal_text.short(generator) for _ in range(PER_FAMILY)]
    decimal_text.compare([token for token in tokens if float(token) < np.inf])


@pytest.mark.parametrize(
    "token",
    ["1e309", "1.7976931348623159e308", "1.797693134862315807938e308", "9" * 400, "-2e9999999"],
)
def test_what_rounds_to_infinity_is_an_error(token: str) -> None:
    """A value beyond the largest double is refused, not turned into infinity."""
    with pytest.raises(LineError, match="beyond the range of float64"):
        decimal_text.read(["1", token])


@pytest.mark.parametrize("token", ["", ".", "-", "+", "e5", "1e", "1e+", "-.e1", "1.2.3", "1e5.0"])
@pytest.mark.parametrize("rest", ["", " 2:1"])
def test_what_is_no_number_is_an_error(token: str, rest: str) -> None:
    """Parts of a number alone are no number."""
    with pytest.raises(LineError, match=r"is not a number|has no value"):
        decimal_text.read([token + rest])
