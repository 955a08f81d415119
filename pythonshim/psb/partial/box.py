"""One box, from outside: the psb process, the channel to what runs in it, the calls in flight.

Everything that comes over the channel was written by code that is not trusted. What is no proper message ends the box."""

from __future__ import annotations

import itertools
import json
import os
import select
import socket
import subprocess
import sys
import threading
import weakref
from collections import deque
from typing import Any, Deque, Dict, List, Optional, Sequence, Set

from psb import codec, codec_loaded
from psb.errors import SandBoxCrashed, SandBoxError, SandBoxProtocolError
from psb.partial import wire
from psb.partial.call import Call, Ended
from psb.partial.marks import Marks

codec_loaded.load_all()  # by this side's own word, before there is a box

_PATIENCE = 5.0  # seconds that a box has for its own end
_LEARNING = 600.0  # ... one that has a policy to write
_BUFFER = 1 << 20  # bytes on the way in each direction


class Gone(Exception):
    """The box had ended before the call was sent."""


class Box:
    """A running box. `Box(argv, hello).start()`, then calls, then end()."""

    def __init__(self, argv: Sequence[str], env: Dict[str, str], hello: Dict[str, Any], budget: codec.Budget, capture: bool = False) -> None:
        self.budget = budget
        self.owner = os.getpid()
        self.ended: Optional[BaseException] = None
        self.over = threading.Event()
        self.report: Dict[str, Any] = {}
        self._patience = _LEARNING if hello.get("learn") else _PATIENCE
        self._closing = False
        self._calls: Dict[int, Call] = {}
        self._abandoned: Set[int] = set()
        self._cancels: Deque[int] = deque()
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._numbers = itertools.count(1)
        self._ready = Call()
        self._calls[0] = self._ready
        self.sock, theirs = socket.socketpair()
        for end in (self.sock, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        self._answer = os.memfd_create("psb-answer", os.MFD_CLOEXEC)
        self._marks = Marks()
        to = subprocess.PIPE if capture else None
        try:
            # A session of its own: a Ctrl-C is the caller's, who then gives its calls up.
            words = [argv[0], f"--answer={self._answer}", *argv[1:]]
            fds = (self._answer,)
            self.process = subprocess.Popen(words, stdin=theirs.fileno(), stdout=to, stderr=to, env=env, start_new_session=True, pass_fds=fds)
        except BaseException:
            self.sock.close()
            os.close(self._answer)
            self._marks.close()
            raise
        finally:
            theirs.close()
        _boxes.add(self)
        try:
            self._marks.hand_over(self.sock)
            codec.send(self.sock, hello, wire.HELLO)
        except OSError:  # psb refused: its status says why
            pass
        threading.Thread(target=self._read, name="psb-box", daemon=True).start()

    @property
    def starting(self) -> Call:
        """Its one answer says whether init_fn is through."""
        return self._ready

    def send(self, call: Call, kind: int, value: object) -> None:
        """Register a call and send it. Gone: the box had ended. TypeError, ValueError: the arguments cannot travel."""
        parts = self.register(call, kind, value)
        with self._sending:
            self.write(parts)
        self.cancel_left()

    def register(self, call: Call, kind: int, value: object) -> List[Any]:
        """The message of a call that is from now on in flight."""
        call.number = next(self._numbers)
        parts = codec.encode(value, kind, call.number)
        with self._lock:
            if self.ended is not None or self._closing:
                raise Gone
            self._calls[call.number] = call
        return parts

    def write(self, parts: Sequence[Any]) -> None:
        """Send, holding `sending`. An error of the channel is no error here: its reader tells every call."""
        try:
            codec.send_parts(self.sock, parts)
        except OSError:
            pass
        except BaseException:  # a signal's exception between two parts of a message: what follows would be no message
            self.kill()
            raise

    def has_room(self) -> bool:
        """Whether some thousand bytes can be written without waiting: unix(7) sockets are writable while three quarters of their space are free.
        So it is where writing fails at once."""
        look = select.poll()
        try:
            look.register(self.sock, select.POLLOUT)
            return bool(look.poll(0))
        except (OSError, ValueError):  # closed
            return True

    @property
    def sending(self) -> threading.Lock:
        """Held while a message is written."""
        return self._sending

    def abandon(self, call: Call) -> None:
        """Nobody waits for this call any more; its answer is dropped when it comes."""
        with self._lock:
            if self._calls.pop(call.number, None) is None or self.ended is not None:
                return
            self._abandoned.add(call.number)
        self._cancels.append(call.number)
        self.cancel_left()

    def cancel_left(self) -> None:
        """Tell the box which calls were abandoned, as soon as no message is being written: whoever has written one calls this."""
        while self._cancels and self._sending.acquire(False):
            try:
                while self._cancels:
                    self._cancel(self._cancels.popleft())
            finally:
                self._sending.release()

    def _cancel(self, number: int) -> None:
        try:
            self.sock.send(bytes(codec.encode(None, wire.CANCEL, number)[0]), socket.MSG_DONTWAIT)
        except OSError:  # it is full or gone: the answer is dropped all the same
            pass

    def begun(self) -> int:
        """How many calls in flight were entered, as the box tells."""
        with self._lock:
            return sum(self._marks.has(number) for number in self._calls if number)

    def busy(self) -> int:
        """How many calls are in flight."""
        with self._lock:
            return len(self._calls)

    def _read(self) -> None:
        error: Optional[BaseException] = None
        try:
            while True:
                frame = codec.recv_frame(self.sock, self.budget)
                if frame is None:
                    break
                self._take(frame)
        except SandBoxProtocolError as e:
            error = e
        except OSError:
            pass
        except Exception as e:  # whatever it sent, this thread must tell the callers
            error = SandBoxProtocolError(f"psb: a message of the box could not be taken: {type(e).__name__}: {e}")
        self._finish(error)

    def _take(self, frame: codec.Frame) -> None:
        number, kind = frame.number, frame.kind
        if kind == wire.RESULT or kind == wire.RAISED or (kind == wire.READY and number == 0):
            with self._lock:
                call = self._calls.pop(number, None)
                if call is None:
                    if number not in self._abandoned:
                        raise SandBoxProtocolError("psb: the box answered what was not asked, or twice")
                    self._abandoned.discard(number)
                    return
            call.put(frame)
            return
        call = self._calls.get(number)
        if call is None:
            if number not in self._abandoned:
                raise SandBoxProtocolError("psb: the box spoke of a call that is none")
        elif kind == wire.OUT and wire.OUT_LEAST <= len(frame.body) <= wire.OUT_SIZE and not frame.buffers:
            call.put(frame)
        else:
            raise SandBoxProtocolError(f"psb: the box sent a message of the kind {kind}, which it must not")

    def _finish(self, error: Optional[BaseException]) -> None:
        if os.getpid() != self.owner:
            return
        if error is not None:
            self.kill()
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        try:
            status = self.process.wait(self._patience)
        except subprocess.TimeoutExpired:
            self.kill()
            status = self.process.wait()
        self.report = self._read_report()
        with self._lock:
            self.ended = error or self._how(status)
            calls, self._calls = list(self._calls.values()), {}
            for call in calls:
                call.begun = self._marks.has(call.number)
            self._marks.close()
        self.sock.close()
        self.over.set()
        for call in calls:
            call.news.append(Ended(self.ended))
            call._notify()

    def _read_report(self) -> Dict[str, Any]:
        try:
            with os.fdopen(self._answer, "r", encoding="utf-8") as f:
                f.seek(0)
                found = json.load(f)
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _how(self, status: int) -> SandBoxError:
        r = self.report
        if r.get("reason") == "refused" or (status == 125 and not r):
            e = SandBoxError(f"psb refused to start the box: {r.get('error') or 'it said why on standard error'}")
            e.hint = "the line after it on standard error says what to do"
            return e
        reason = r.get("reason", "")
        if reason and reason not in ("exit", "signal"):
            how = f"ended by the limit {reason}"
        elif status < 0:
            how = f"killed by signal {-status}"
        else:
            how = f"exit status {status}"
        crashed = SandBoxCrashed(f"psb: the box ended during the call: {how}")
        crashed.status = status
        return crashed

    def kill(self) -> None:
        """End the box now; its keeper takes along whatever runs in it."""
        try:
            self.process.kill()
        except OSError:
            pass

    def end(self, wait: bool) -> None:
        """Let the box end by itself, or end it where it does not. `wait`: until the calls in flight are answered."""
        if os.getpid() != self.owner:
            return
        with self._lock:
            self._closing = True
        while wait and self.busy() and not self.over.wait(0.02):
            pass
        if self._sending.acquire(timeout=0.5):  # whoever holds it longer sends to a box that does not read
            try:
                self.sock.send(bytes(codec.encode(None, wire.BYE)[0]), socket.MSG_DONTWAIT)
            except OSError:
                pass
            finally:
                self._sending.release()
        if not self.over.wait(self._patience if wait else 0.5):
            self.process.terminate()
            if not self.over.wait(self._patience):
                self.kill()
                self.over.wait()

    def forked(self) -> None:
        """In a forked copy of the process: this end of the channel is the other process's."""
        self._marks.close()
        try:
            os.close(self.sock.detach())
        except OSError:
            pass


_boxes: "weakref.WeakSet[Box]" = weakref.WeakSet()


def _after_fork() -> None:
    for box in list(_boxes):
        box.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child.py")


def interpreter(python: Optional[str]) -> str:
    """The interpreter of a box: the caller's own unless another one is named."""
    if python:
        return python
    if not sys.executable:
        raise SandBoxError("psb: this Python does not know its own program: sandboxes(python=\"/path/to/python3\")")
    return sys.executable
