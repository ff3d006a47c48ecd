"""Work on successive items in several threads, with the results in the order of the items."""

from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from threading import Event, Semaphore, Thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    work: Callable[[Item], Result],
    items: Generator[Item, None, None],
    threads: int,
    under_way: int | None = None,
    patience: float = 0.1,
) -> Generator[Result, None, None]:
    """Yield work(item) for each item, in order, computed ahead in that many threads.

    One more thread draws the items, so that reading and unpacking a file overlap with the work and
    with what the caller does between two results. At most ``under_way`` items, by default
    ``threads + 2``, are drawn and not yet done with by the caller, which bounds the memory. What
    fails, the drawing or the work, is raised in its turn. Whoever stops early waits so many
    seconds at most for the thread that draws: longer than any read but one from a person or a pipe.
    """
    free, stopped = Semaphore(under_way or threads + 2), Event()
    results: SimpleQueue[Future[Result] | None] = SimpleQueue()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="rosenblatt")

    def draw() -> None:
        try:
            free.acquire()
            while not stopped.is_set() and (item := next(items, None)) is not None:
                results.put(pool.submit(work, item))
                free.acquire()
        except BaseException as error:  # noqa: BLE001  # handed to the caller's thread
            failed: Future[Result] = Future()
            failed.set_exception(error)
            results.put(failed)
        finally:
            results.put(None)  # first: whatever else fails, nobody waits for ever
            items.close()

    # A daemon: one that waits for standard input must not keep the program from ending.
    drawing = Thread(target=draw, daemon=True, name="rosenblatt-reader")
    drawing.start()
    try:
        while (future := results.get()) is not None:
            yield future.result()
            free.release()
    finally:
        stopped.set()
        free.release()
        pool.shutdown(wait=False, cancel_futures=True)
        drawing.join(timeout=patience)
