"""The psb mcp behind a Toolkit: the process, lines of JSON-RPC on its standard streams, the requests in flight.

The server is psb's own program, so what it says is believed; what a program in a box printed stands in its answers as text. All that is read is
bounded."""

from __future__ import annotations

import atexit
import base64
import itertools
import json
import os
import queue
import subprocess
import threading
import time
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from psb.agent.stopping import GivenUp, stopping
from psb.errors import SandBoxCrashed, SandBoxError, SandBoxProtocolError

REVISION = "2026-07-28"  # of the protocol: requests stand for themselves, there is no handshake
MOST_LINE = 32 << 20  # bytes of one message from the server
MOST_SENT = 16 << 20  # bytes of one message to it: what psb mcp reads unless --max-message says otherwise
_MOST_WAITING = 8 << 20  # bytes of a call's output that its handlers have not taken
_MOST_SAID = 8 << 10  # bytes of standard error that are kept
_PATIENCE = 20.0  # seconds that the server has for its own end

Piece = Tuple[str, bytes, int]  # stream, what was printed, how many bytes before it are missing
OnOutput = Callable[[Piece], None]


class _Waiting:
    """One request, and what came for it."""

    def __init__(self, streams: bool) -> None:
        self.news: "queue.SimpleQueue[Union[Piece, Dict[str, Any], SandBoxError, GivenUp]]" = queue.SimpleQueue()
        self.streams = streams
        self.waiting = 0  # bytes of pieces in news
        self.missed: Dict[str, int] = {}
        self.lock = threading.Lock()

    def print(self, pieces: Any) -> None:
        for p in pieces if isinstance(pieces, list) else []:
            if not self.streams or not isinstance(p, dict) or p.get("stream") not in ("stdout", "stderr"):
                continue
            stream, missed = p["stream"], p.get("lost_bytes")
            data = base64.b64decode(p.get("base64") or "")
            with self.lock:
                lost = self.missed.pop(stream, 0) + (missed if isinstance(missed, int) else 0)
                if self.waiting + len(data) > _MOST_WAITING:  # handlers that are slower than the program
                    self.missed[stream] = lost + len(data)
                    continue
                self.waiting += len(data)
            self.news.put((stream, data, lost))

    def took(self, piece: Piece) -> None:
        with self.lock:
            self.waiting -= len(piece[1])


class Server:
    """A running psb mcp. Requests may come from any thread."""

    def __init__(self, words: Sequence[str], env: Optional[Mapping[str, str]] = None, asks: bool = False) -> None:
        self._can: Dict[str, Any] = {"elicitation": {"form": {}}} if asks else {}
        self._owner = os.getpid()
        self._numbers = itertools.count(1)
        self._last = 0
        self._calls: Dict[int, _Waiting] = {}
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._closed = False
        self._said = bytearray()
        self.ended: Optional[SandBoxError] = None
        theirs: List[int] = []
        ours: List[int] = []
        try:
            for write in (True, False, False):
                r, w = os.pipe()
                ours.append(w if write else r)
                theirs.append(r if write else w)
            # A session of its own: a Ctrl-C is the caller's, who then gives its calls up.
            self.process = subprocess.Popen(list(words), stdin=theirs[0], stdout=theirs[1], stderr=theirs[2], env=None if env is None else dict(env), start_new_session=True)
        except BaseException as e:
            for fd in ours:
                os.close(fd)
            if isinstance(e, OSError):
                raise SandBoxError(f"psb: {words[0]} could not be started: {e}") from e
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        self._to, self._from, self._errors = ours
        _servers.add(self)
        self._saying = threading.Thread(target=self._listen, name="psb-mcp-errors", daemon=True)
        self._reading = threading.Thread(target=self._read, name="psb-mcp", daemon=True)
        self._saying.start()
        self._reading.start()

    # Requests.

    def request(self, method: str, params: Dict[str, Any], on_output: Optional[OnOutput] = None) -> Dict[str, Any]:
        """The result of one request. Whatever ends the waiting (Ctrl-C, an exception of on_output, a Stop) cancels it at the server: a box is ended.
        SandBoxCrashed: the server ended."""
        call, stop = _Waiting(on_output is not None), stopping.get()
        if stop is not None:
            stop.begins(call.news.put)
        with self._lock:
            self._usable()
            number = self._last = next(self._numbers)
            self._calls[number] = call
        answered = False
        try:
            meta: Dict[str, Any] = {"io.modelcontextprotocol/protocolVersion": REVISION, "io.modelcontextprotocol/clientCapabilities": self._can}
            if on_output is not None:
                meta.update({"progressToken": number, "psb/stream": True})
            self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": meta}})
            while True:
                news = call.news.get()
                if isinstance(news, GivenUp):
                    raise news
                answered = not isinstance(news, tuple)
                if isinstance(news, SandBoxError):
                    raise _again(news)
                if isinstance(news, tuple):
                    call.took(news)
                    if on_output is not None:
                        on_output(news)
                    continue
                if on_output is not None:
                    for stream, lost in call.missed.items():  # behind the last that they had
                        on_output((stream, b"", lost))
                return _result(news, method)
        except BaseException:
            if not answered:
                self._cancel(number)
            raise
        finally:
            if stop is not None:
                stop.ends()
            with self._lock:
                self._calls.pop(number, None)

    def _usable(self) -> None:
        if os.getpid() != self._owner:
            raise SandBoxError("psb: a Toolkit belongs to the process that made it: make another one after a fork")
        if self.ended is not None:
            raise _again(self.ended)
        if self._closed:
            raise SandBoxError("psb: this Toolkit is closed")

    def _send(self, message: Dict[str, Any]) -> None:
        line = json.dumps(message, ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n"
        if len(line) > MOST_SENT:  # the server would end
            raise SandBoxError(f"psb: a request of {len(line)} bytes: at most {MOST_SENT} are taken")
        with self._sending:
            left = memoryview(line)
            try:
                while left and self._to >= 0:
                    left = left[os.write(self._to, left) :]
            except OSError:  # it has ended: its reader tells every call
                pass
            except BaseException:  # a signal's exception between two parts of a line: what follows would be no message
                self.process.kill()
                raise

    def _cancel(self, number: int) -> None:
        if self.ended is None and not self._closed:
            self._send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})

    # What it says.

    def _read(self) -> None:
        error: Optional[SandBoxError] = None
        line = bytearray()
        try:
            while True:
                part = os.read(self._from, 1 << 16)
                if not part:
                    break
                first, *others = part.split(b"\n")
                line += first
                for other in others:
                    self._take(bytes(line))
                    line = bytearray(other)
                if len(line) > MOST_LINE:
                    raise SandBoxProtocolError(f"psb: psb mcp sent a message of more than {MOST_LINE} bytes")
        except SandBoxProtocolError as e:
            error = e
        except OSError:
            pass
        except Exception as e:  # whatever it sent, this thread must tell the callers
            error = SandBoxProtocolError(f"psb: a message of psb mcp could not be taken: {type(e).__name__}: {e}")
        self._finish(error)

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as e:
            raise SandBoxProtocolError(f"psb: psb mcp sent what is no message: {e}") from None
        if not isinstance(message, dict):
            raise SandBoxProtocolError("psb: psb mcp sent what is no message")
        number = message.get("id")
        if "method" in message:
            params = message.get("params")
            if message["method"] == "notifications/progress" and isinstance(params, dict):
                meta = params.get("_meta")
                call = self._call(params.get("progressToken"))
                if call is not None and isinstance(meta, dict):
                    call.print(meta.get("psb/output"))
            return
        if type(number) is not int or not 0 < number <= self._last:
            raise SandBoxProtocolError("psb: psb mcp answered what was not asked")
        call = self._call(number)
        if call is not None:  # else nobody waits for it any more
            call.news.put(message)

    def _call(self, number: Any) -> Optional[_Waiting]:
        with self._lock:
            return self._calls.get(number) if type(number) is int else None

    def _listen(self) -> None:
        try:
            while True:
                part = os.read(self._errors, 1 << 12)
                if not part:
                    return
                self._said += part
                del self._said[:-_MOST_SAID]
        except OSError:
            pass

    def said(self) -> str:
        """The end of what the server wrote to standard error."""
        return bytes(self._said).decode("utf-8", "replace")

    def _finish(self, error: Optional[SandBoxError]) -> None:
        if os.getpid() != self._owner:
            return
        if error is not None:
            self.process.kill()
        try:
            status = self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self._saying.join(1.0)
        with self._lock:
            self.ended = error or (SandBoxError("psb: this Toolkit is closed") if self._closed else self._how(status))
            calls = list(self._calls.values())
        for call in calls:
            call.news.put(self.ended)

    def _how(self, status: int) -> SandBoxError:
        lines = [x[len("psb: ") :] for x in self.said().splitlines() if x.startswith("psb: ")]
        hints = [x[len("hint: ") :] for x in lines if x.startswith("hint: ")]
        if status == 125:
            e = SandBoxError("psb: psb mcp refused to start: " + "; ".join(x for x in lines if not x.startswith("hint: ")))
        else:
            crashed = SandBoxCrashed(f"psb: psb mcp ended: {f'killed by signal {-status}' if status < 0 else f'exit status {status}'}")
            crashed.status = status
            e = crashed
        e.hint = "; ".join(hints) if status == 125 else ""
        return e

    # The end.

    def close(self) -> None:
        """End the server and every box of it. It may be called twice."""
        if os.getpid() != self._owner:
            return
        with self._lock:
            self._closed = True
        if self._sending.acquire(timeout=0.5):  # whoever holds it longer sends to a server that does not read
            try:
                self._drop("_to")
            finally:
                self._sending.release()
        self._reading.join(_PATIENCE)
        if self._reading.is_alive():
            self.process.kill()
            self._reading.join()
        self._saying.join(1.0)
        for name in ("_to", "_from", "_errors"):
            self._drop(name)

    def _drop(self, name: str) -> None:
        fd = getattr(self, name)
        setattr(self, name, -1)
        if fd >= 0:
            os.close(fd)

    def forked(self) -> None:
        """In a forked copy of the process: this end of the streams is the other process's."""
        for name in ("_to", "_from", "_errors"):
            try:
                self._drop(name)
            except OSError:
                pass


def _again(e: SandBoxError) -> SandBoxError:
    # Each caller raises one of its own: a traceback belongs to one.
    new = type(e)(*e.args)
    new.hint = e.hint
    if isinstance(e, SandBoxCrashed) and isinstance(new, SandBoxCrashed):
        new.status = e.status
    return new


def _result(message: Dict[str, Any], method: str) -> Dict[str, Any]:
    error, result = message.get("error"), message.get("result")
    if isinstance(error, dict):
        raise SandBoxError(f"psb: {method}: {error.get('message')}")
    if not isinstance(result, dict):
        raise SandBoxProtocolError("psb: psb mcp sent an answer without a result")
    return result


_servers: "weakref.WeakSet[Server]" = weakref.WeakSet()


def _after_fork() -> None:
    for server in list(_servers):
        server.forked()


def _at_exit() -> None:
    for server in list(_servers):
        server.close()


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
