import threading
import time
from collections.abc import Generator

import pytest

from rosenblatt.data.streams import in_order


def _numbers(count: int, drawn: list[int]) -> Generator[int, None, None]:
    for number in range(count):
        drawn.append(number)
        yield number


def test_results_come_in_the_order_of_the_items() -> None:
    """Work that takes different times is handed over in the order in which it was given."""

    def slow_at_first(number: int) -> int:
        time.sleep(0.001 * (number % 3))
        return number

    assert list(in_order(slow_at_first, _numbers(50, []), 4)) == list(range(50))


def test_no_more_is_drawn_than_is_asked_for() -> None:
    """Whoever is slow to take results does not let items pile up."""
    drawn: list[int] = []
    results = in_order(lambda number: number, _numbers(1000, drawn), 2)
    next(results)
    time.sleep(0.05)
    assert len(drawn) <= 4
    results.close()


def test_what_fails_is_raised_in_its_turn() -> None:
    """Results before a failure arrive, then the failure, whether of the work or of the source."""

    def failing() -> Generator[int, None, None]:
        yield 5
        yield 0
        yield 7

    results = in_order(lambda number: 10 // number, failing(), 3)
    assert next(results) == 2
    with pytest.raises(ZeroDivisionError):
        next(results)

    def broken() -> Generator[int, None, None]:
        yield 5
        raise BrokenPipeError

    results = in_order(lambda number: number, broken(), 3)
    assert next(results) == 5
    with pytest.raises(BrokenPipeError):
        next(results)


def test_leaving_early_ends_the_threads_and_closes_the_source() -> None:
    """A loop that is left by break leaves nothing running or open behind."""
    closed = threading.Event()

    def endless() -> Generator[int, None, None]:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    results = in_order(lambda number: number, endless(), 2)
    next(results)
    results.close()
    assert closed.wait()
