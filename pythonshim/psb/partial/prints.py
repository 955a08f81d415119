"""What a call prints, taken by thread and task in the box and written again where its caller stands."""

from __future__ import annotations

import io
import sys
import threading
from contextvars import ContextVar
from typing import Any, Callable, List, Optional, TextIO, Tuple, cast

from psb.errors import SandBoxProtocolError

_FLUSH = 8192  # characters that wait for the end of a line
_PIECE = 16_000  # characters of one message: so few that they stand in its body

current: "ContextVar[Optional[Sink]]" = ContextVar("psb_call", default=None)


class Sink:
    """The prints of one call. Once closed, what threads that the call left behind print goes to the box's own streams."""

    def __init__(self, send: Callable[[List[Tuple[int, str]]], None]) -> None:
        self._send = send
        self._parts: List[Tuple[int, str]] = []
        self._size = 0
        self._lock = threading.Lock()
        self.closed = False

    def write(self, stream: int, text: str) -> bool:
        """Take text; False when the call is over."""
        with self._lock:
            if self.closed:
                return False
            self._parts.append((stream, text))
            self._size += len(text)
            if self._size >= _FLUSH or "\n" in text:
                self._flush()
        return True

    def close(self) -> None:
        """Send what is left; nothing is sent after it."""
        with self._lock:
            self._flush()
            self.closed = True

    def flush(self, stream: int) -> None:
        """Send what waits for the end of its line, and the wish that the caller's stream is flushed: an empty text."""
        with self._lock:
            self._flush()
            if not self.closed:
                self._send([(stream, "")])

    def _flush(self) -> None:
        if not self._parts or self.closed:
            return
        parts, self._parts, self._size = self._parts, [], 0
        for stream, text in _joined(parts):
            for at in range(0, len(text), _PIECE):
                self._send([(stream, text[at : at + _PIECE])])


def _joined(parts: List[Tuple[int, str]]) -> List[Tuple[int, str]]:
    out: List[Tuple[int, str]] = []
    for stream, text in parts:
        if out and out[-1][0] == stream:
            out[-1] = (stream, out[-1][1] + text)
        else:
            out.append((stream, text))
    return out


class Stream(io.TextIOBase):
    """sys.stdout or sys.stderr of the box."""

    def __init__(self, number: int, real: TextIO) -> None:
        self._number = number
        self._real = real
        self.buffer = _Bytes(self)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._real.encoding

    @property
    def errors(self) -> Optional[str]:  # type: ignore[override]
        return self._real.errors

    @property
    def name(self) -> Any:
        return self._real.name

    @property
    def mode(self) -> str:
        return "w"

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return current.get() is None and self._real.isatty()

    def fileno(self) -> int:
        return self._real.fileno()

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        sink = current.get()
        if sink is None or not sink.write(self._number, str(text)):
            self._real.write(text)
        return len(text)

    def flush(self) -> None:
        sink = current.get()
        if sink is None or sink.closed:
            self._real.flush()
        else:
            sink.flush(self._number)


class _Bytes(io.RawIOBase):
    def __init__(self, text: Stream) -> None:
        self._text = text

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        raw = bytes(data)
        self._text.write(raw.decode(self._text.encoding or "utf-8", "replace"))
        return len(raw)

    def flush(self) -> None:
        self._text.flush()


def install() -> None:
    """Put both streams in the place of the box's own."""
    if sys.stdout is not None:
        sys.stdout = cast(TextIO, Stream(1, sys.stdout))
    if sys.stderr is not None:
        sys.stderr = cast(TextIO, Stream(2, sys.stderr))


def checked(parts: Any) -> List[Tuple[int, str]]:
    """An OUT message as it should be, or SandBoxProtocolError."""
    if type(parts) is not list or not parts or any(type(p) is not tuple or len(p) != 2 or p[0] not in (1, 2) or type(p[1]) is not str for p in parts):
        raise SandBoxProtocolError("psb: the box sent prints of no form")
    return parts


def replay(parts: List[Tuple[int, str]]) -> None:
    """Write them to the caller's own sys.stdout and sys.stderr."""
    for stream, text in parts:
        to = sys.stdout if stream == 1 else sys.stderr
        if to is not None and text:
            to.write(text)
        elif to is not None:
            to.flush()
