"""What the calls of one Toolkit came to, added up of psb's own facts."""

from __future__ import annotations

import threading
from typing import Dict, NamedTuple

from psb.agent.answers import Result


class Metrics(NamedTuple):
    """`running`: calls in flight now. `by_status`: runs that are over, by status. `peak_memory_mb`: of the largest of them, where it is known."""

    running: int
    runs: int
    by_status: Dict[str, int]
    wall_s: float
    peak_memory_mb: float
    denials: int


class Meter:
    """Counts. Calls may come from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self._by_status: Dict[str, int] = {}
        self._wall = 0.0
        self._peak = 0.0
        self._denials = 0

    def __enter__(self) -> None:
        with self._lock:
            self._running += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._running -= 1

    def ran(self, r: Result) -> None:
        memory = r.limits.get("memory_mb")
        with self._lock:
            self._by_status[r.status] = self._by_status.get(r.status, 0) + 1
            self._wall += r.wall_s
            self._denials += len(r.denials)
            if memory is not None and memory.peak is not None:
                self._peak = max(self._peak, memory.peak)

    def now(self) -> Metrics:
        with self._lock:
            return Metrics(self._running, sum(self._by_status.values()), dict(self._by_status), round(self._wall, 3), self._peak, self._denials)
