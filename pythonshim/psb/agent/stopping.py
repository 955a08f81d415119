"""Giving up, from another thread, what one thread asks of a server."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import Any, Callable, Optional


class GivenUp(BaseException):
    """Raised in the thread whose request was given up. Nobody who catches errors is meant to catch it."""


class Stop:
    """What one thread asks, one request after the other, until it is stopped: then the request that waits is cancelled, and no other is sent."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wake: Optional[Callable[[Any], None]] = None
        self._stopped = False

    def begins(self, wake: Callable[[Any], None]) -> None:
        """A request, which wake ends with what it raises."""
        with self._lock:
            if self._stopped:
                raise GivenUp()
            self._wake = wake

    def ends(self) -> None:
        with self._lock:
            self._wake = None

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            if self._wake is not None:
                self._wake(GivenUp())


stopping: "ContextVar[Optional[Stop]]" = ContextVar("psb.agent.stopping", default=None)  # of the thread that asks
