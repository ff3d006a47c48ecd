"""Sizes in bytes as people write them."""

import re

import click

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMG]?)B?", re.IGNORECASE)


def size(_ctx: click.Context, _param: click.Parameter, text: str | None) -> int | None:
    """Return how many bytes "64M" are."""
    if text is None:
        return None
    match = SIZE.fullmatch(text.strip())
    n_bytes = 0 if match is None else int(float(match[1]) * UNITS[match[2].upper()])
    if n_bytes < 1:
        msg = f"{text!r} is not a size: write 500K, 64M or 1G."
        raise click.BadParameter(msg)
    return n_bytes


def told(n_bytes: int) -> str:
    """Return a size for people.

    >>> told(999), told(123456), told(5_000_000_000)
    ('999 B', '123 kB', '5.0 GB')
    """
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= factor:
            value = n_bytes / factor
            return f"{value:.0f} {unit}" if value >= 10 else f"{value:.1f} {unit}"
    return f"{n_bytes} B"
