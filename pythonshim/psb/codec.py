"""Values as bytes, for a channel whose other end is not trusted.

Nothing received is unpickled, and no class is imported or constructed because the sender names it: what comes out are plain values, the
standard library's value types of a fixed table, types that the receiver registered or passes in as `known`, and a `Record` for every other
dataclass, named tuple or enum. Big buffers travel beside the message without being copied.

    data = dumps({"rows": [1, 2.5], "at": datetime.now()})
    loads(data)                       # the value, or SandBoxProtocolError
    send(sock, value); recv(sock)     # the same over a connected socket

Two references to one object arrive as two copies. A value that contains itself is refused with TypeError when it is sent.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Sequence, Tuple, Union

from psb.codec_get import MAX_DEPTH, Message, read_value
from psb.codec_put import OUTSIDE, Writer
from psb.codec_types import Budget, Known, Record, known_of, register
from psb.errors import SandBoxProtocolError

__all__ = ["Budget", "Frame", "Known", "Record", "dumps", "encode", "known_of", "loads", "recv", "recv_frame", "register", "send", "send_parts"]

if TYPE_CHECKING:
    import socket

Buffer = Union[bytes, bytearray, memoryview]

# magic, kind of message, buffers beside the body, length of the body, number of the call
_HEAD = struct.Struct("<3sBIIQ")
_MAGIC = b"psb"
_WRITABLE = 1 << 63  # in a buffer's length: it is to arrive in memory that can be written
_IOV = 512  # parts of one sendmsg; Linux takes 1024
_WAITALL = 0x100  # MSG_WAITALL; the module socket would cost a box's start several milliseconds


class Frame(NamedTuple):
    """One message as it came in, not yet read: its kind and number stand outside the value."""

    kind: int
    number: int
    body: bytes
    buffers: Sequence[Buffer]

    def value(self, known: Optional[Known] = None, budget: Budget = Budget()) -> Any:
        """The value, or SandBoxProtocolError. `known` gives a class for a name "module:qualname", or None."""
        return read_value(Message(self.body, self.buffers, known, budget))


def encode(value: object, kind: int = 0, number: int = 0) -> List[Buffer]:
    """The message as parts to be sent one after the other. Parts may be views of the value's own memory: send them before it changes.

    TypeError: a part of the value has no plain form, or contains itself. ValueError: it is nested too deeply or too big."""
    w = Writer(MAX_DEPTH)
    body = w.write(value)
    outside = w.buffers
    if len(body) >= 1 << 32:
        raise ValueError("psb: the value is too big to be sent: more than 4 GiB beside its buffers")
    head = bytearray(_HEAD.pack(_MAGIC, kind, len(outside), len(body), number))
    for view, writable in outside:
        head += struct.pack("<Q", view.nbytes | (_WRITABLE if writable else 0))
    head += body
    return [head, *(view for view, _ in outside)]


def dumps(value: object) -> bytes:
    """The whole message as one bytes object; the errors of encode."""
    return b"".join(encode(value))


def loads(data: Buffer, known: Optional[Known] = None, budget: Budget = Budget()) -> Any:
    """The value of one whole message. Whatever data holds, the answer is a value or SandBoxProtocolError."""
    view = memoryview(data).cast("B")
    if len(view) < _HEAD.size:
        raise SandBoxProtocolError("psb: a message ends before its head does")
    kind, number, sizes, length = _head(view[: _HEAD.size], budget)
    at = _HEAD.size
    table = _table(view[at : at + 8 * sizes], sizes, length, budget)
    at += 8 * sizes
    if len(view) != at + length + sum(n for n, _ in table):
        raise SandBoxProtocolError("psb: a message is not as long as it says")
    body = bytes(view[at : at + length])
    at += length
    buffers: List[Buffer] = []
    for n, writable in table:
        part = view[at : at + n]
        buffers.append(bytearray(part) if writable else bytes(part))
        at += n
    return Frame(kind, number, body, buffers).value(known, budget)


def send(sock: socket.socket, value: object, kind: int = 0, number: int = 0) -> None:
    """Send one message over a connected stream socket; the caller sees to it that only one thread sends at a time."""
    send_parts(sock, encode(value, kind, number))


def send_parts(sock: socket.socket, parts: Sequence[Buffer]) -> None:
    """Send what encode gave, without joining it."""
    if len(parts) == 1:
        sock.sendall(parts[0])
        return
    todo = [memoryview(p).cast("B") for p in parts]
    first = 0
    while first < len(todo):
        n = sock.sendmsg(todo[first : first + _IOV])
        while first < len(todo) and n >= len(todo[first]):
            n -= len(todo[first])
            first += 1
        if n:
            todo[first] = todo[first][n:]


def recv(sock: socket.socket, known: Optional[Known] = None, budget: Budget = Budget()) -> Any:
    """The next message's value. EOFError: the other end closed between two messages. SandBoxProtocolError: what came is no message."""
    frame = recv_frame(sock, budget)
    if frame is None:
        raise EOFError("psb: the other end closed the channel")
    return frame.value(known, budget)


def recv_frame(sock: socket.socket, budget: Budget = Budget()) -> Optional[Frame]:
    """The next message, not yet read; None when the other end closed between two messages. Allocates no more than budget.size."""
    head = sock.recv(_HEAD.size)
    if not head:
        return None
    if len(head) < _HEAD.size:
        head += _exactly(sock, _HEAD.size - len(head))
    kind, number, sizes, length = _head(head, budget)
    if not sizes:
        return Frame(kind, number, _exactly(sock, length), ())
    table = _table(_exactly(sock, 8 * sizes), sizes, length, budget)
    body = _exactly(sock, length)
    return Frame(kind, number, body, [_into(sock, n) if writable else _exactly(sock, n) for n, writable in table])


def _head(head: Buffer, budget: Budget) -> Tuple[int, int, int, int]:
    magic, kind, sizes, length, number = _HEAD.unpack(head)
    if magic != _MAGIC:
        raise SandBoxProtocolError("psb: what came is no message of psb")
    if length > budget.size or sizes > budget.size // OUTSIDE:
        raise SandBoxProtocolError(f"psb: a message is bigger than {budget.size} bytes")
    return kind, number, sizes, length


def _table(data: Buffer, sizes: int, length: int, budget: Budget) -> List[Tuple[int, bool]]:
    if len(data) != 8 * sizes:
        raise SandBoxProtocolError("psb: a message ends before its head does")
    table = [(n & ~_WRITABLE, n >= _WRITABLE) for n in struct.unpack(f"<{sizes}Q", data)]
    if length + sum(n for n, _ in table) > budget.size:
        raise SandBoxProtocolError(f"psb: a message is bigger than {budget.size} bytes")
    return table


def _exactly(sock: socket.socket, n: int) -> bytes:
    # The kernel fills one fresh bytes object; a part of it comes only where a signal handler ran in between.
    got = sock.recv(n, _WAITALL) if n else b""
    if len(got) == n:
        return got
    parts = [got]
    left = n - len(got)
    while left and got:
        got = sock.recv(left, _WAITALL)
        parts.append(got)
        left -= len(got)
    if left:
        raise SandBoxProtocolError("psb: the channel was closed in the middle of a message")
    return b"".join(parts)


def _into(sock: socket.socket, n: int) -> bytearray:
    whole = bytearray(n)
    view = memoryview(whole)
    at = 0
    while at < n:
        got = sock.recv_into(view[at:], 0, _WAITALL)
        if not got:
            raise SandBoxProtocolError("psb: the channel was closed in the middle of a message")
        at += got
    return whole


