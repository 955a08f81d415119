"""One call in flight, as the calling half sees it."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, Deque, List, Optional, Union

from psb import codec
from psb.errors import SandBoxProtocolError
from psb.partial import wire


class Ended:
    """The box ended; `error` says how."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def again(self) -> BaseException:
        """The error as one of its own: each caller that raises it adds its traceback."""
        new = type(self.error)(*self.error.args)
        new.__dict__.update(self.error.__dict__)
        return new


News = Union[codec.Frame, Ended]


class Call:
    """What the reader of the channel puts in, a thread takes out."""

    def __init__(self) -> None:
        self.number = 0
        self.begun = False  # as far as the box told, known once it is over
        self.answered = False  # by its value, its error, or the end of its box
        self.waiting = 0  # bytes of prints that were not taken out yet
        self.news: Deque[News] = deque()
        self._wake = threading.Lock()
        self._wake.acquire()

    def put(self, news: News) -> None:
        """By the reader. SandBoxProtocolError: more prints than anybody could take."""
        if isinstance(news, codec.Frame) and news.kind == wire.OUT:
            self.waiting += len(news.body) + wire.OUT_COST
            if self.waiting > wire.OUT_WAITING:
                raise SandBoxProtocolError("psb: the box prints faster than its caller takes it")
        self.news.append(news)
        self._notify()

    def _notify(self) -> None:
        try:
            self._wake.release()
        except RuntimeError:  # it is awake already, and takes everything there is
            pass

    def wait(self, seconds: float = -1) -> bool:
        """Until there is news, True, or the seconds are over, False; a thread."""
        return self._wake.acquire(timeout=seconds)

    def take(self) -> List[News]:
        """Everything that came."""
        out: List[News] = []
        while self.news:
            n = self.news.popleft()
            if isinstance(n, codec.Frame) and n.kind == wire.OUT:
                self.waiting -= len(n.body) + wire.OUT_COST
            out.append(n)
        return out


class AsyncCall(Call):
    """The same for a task."""

    def __init__(self, loop: Any) -> None:
        super().__init__()
        import asyncio

        self._loop = loop
        self._event: Optional[Any] = asyncio.Event()

    def _notify(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._event.set)  # type: ignore[union-attr]
        except RuntimeError:  # the loop was closed: nobody waits
            pass

    async def arrival(self) -> None:
        """Until there is news; a task."""
        await self._event.wait()  # type: ignore[union-attr]
        self._event.clear()  # type: ignore[union-attr]
