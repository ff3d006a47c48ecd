"""Counters in the text that Prometheus reads."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import accumulate
from typing import Any

from rosenblatt.service.writer import Entry, LearnerStatus, Writer

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)  # seconds
WRONG = "predicted wrong before they were learned."
OF_MODELS: tuple[tuple[str, str, str, Callable[[LearnerStatus], Any]], ...] = (
    ("examples_total", "counter", "Examples learned.", lambda one: one.learned),
    ("wrong_total", "counter", f"Examples {WRONG}", lambda one: one.wrong),
    (
        "progressive_error",
        "gauge",
        f"Share of examples {WRONG}",
        lambda one: "NaN" if one.error is None else one.error,
    ),
    ("mistakes_total", "counter", "Mistakes of the last weights.", lambda one: one.mistakes),
    ("version", "gauge", "Number of the last event.", lambda one: one.version),
    ("features", "gauge", "Features with a weight.", lambda one: one.learner.n_features),
)


class Metrics:
    """What has been asked and how long it took; the rest is read when it is asked for."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._requests: Counter[tuple[str, int]] = Counter()
        self._predictions: Counter[str] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._below: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))

    def request(self, operation: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._requests[operation, status] += 1
        self._seconds[operation] += seconds
        self._below[operation][bisect_left(BUCKETS, seconds)] += 1

    def predicted(self, entry: Entry, rows: int) -> None:
        """Count predictions."""
        self._predictions[entry.record.name] += rows

    def text(self) -> str:
        """Return all counters."""
        writer = self._writer
        models = sorted(writer.entries.items())
        lines: list[str] = []

        def add(name: str, kind: str, meaning: str, values: Any) -> None:
            lines.append(f"# HELP rosenblatt_{name} {meaning}")
            lines.append(f"# TYPE rosenblatt_{name} {kind}")
            lines.extend(f"rosenblatt_{name}{labels} {value}" for labels, value in values)

        for name, kind, meaning, value in OF_MODELS:
            add(name, kind, meaning, [(f'{{model="{key}"}}', value(e.shown)) for key, e in models])
        predictions = [(f'{{model="{key}"}}', self._predictions[key]) for key, _ in models]
        add("predictions_total", "counter", "Rows predicted.", predictions)
        still = int(writer.failure is not None)
        add("read_only", "gauge", "1 while nothing can be learned.", [("", still)])
        add("queue_examples", "gauge", "Examples that wait to be learned.", [("", writer.waiting)])
        add("commits_total", "counter", "Groups of examples committed.", [("", writer.commits)])
        requests = [
            (f'{{operation="{operation}",status="{status}"}}', number)
            for (operation, status), number in sorted(self._requests.items())
        ]
        add("requests_total", "counter", "Answers by operation and status.", requests)
        times: list[tuple[str, Any]] = []
        for operation, counts in sorted(self._below.items()):
            totals = list(accumulate(counts))
            for bound, total in zip((*BUCKETS, "+Inf"), totals, strict=True):
                times.append((f'_bucket{{operation="{operation}",le="{bound}"}}', total))
            times.append((f'_sum{{operation="{operation}"}}', self._seconds[operation]))
            times.append((f'_count{{operation="{operation}"}}', totals[-1]))
        add("request_seconds", "histogram", "Time to answer.", times)
        return "\n".join(lines) + "\n"
