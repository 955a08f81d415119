"""The half in the box: reads calls from the channel, runs them in threads or as tasks of one loop, and answers."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Callable, Deque, Dict, List, NoReturn, Optional, Tuple

from psb import codec
from psb.partial import inside, marks, prints, wire
from psb.partial.denials import facts, note

if TYPE_CHECKING:
    import socket

_THREADS = 256  # calls of plain functions that run at once; more wait for one of them
_GENEROUS = codec.Budget(size=1 << 40, depth=200)  # who calls is trusted


class Server:
    """One channel. A thread at a time reads it; the reader that got a call hands reading on and runs the call itself."""

    def __init__(self, sock: socket.socket, entered: int) -> None:
        self.sock = sock
        self.entered = entered
        self.sending = threading.Lock()
        self.reading = threading.Lock()
        self.state = threading.Lock()  # guards the three below
        self.idle = 0
        self.threads = 0
        self.waiting: Deque[codec.Frame] = deque()
        self.over = threading.Event()
        self.found: Dict[Tuple[str, str], Callable[..., Any]] = {}
        self.tasks: Any = None
        self.facts = True

    def send(self, kind: int, number: int, value: object) -> None:
        self.send_parts(codec.encode(value, kind, number))

    def send_parts(self, parts: List[Any]) -> None:
        with self.sending:
            codec.send_parts(self.sock, parts)

    def run(self) -> None:
        """Serve until the other end says that it is done. When it is gone, this process is, too."""
        if not self.spawn():
            self.work()  # without threads calls run one after the other, and the end is the other side's
        self.over.wait()
        if self.tasks is not None:
            self.tasks.end()

    def spawn(self) -> bool:
        """One more thread; False where a limit of the box stands in the way."""
        with self.state:
            self.threads += 1
        try:
            threading.Thread(target=self.work, name="psb-call", daemon=True).start()
        except RuntimeError:
            with self.state:
                self.threads -= 1
            return False
        return True

    def work(self) -> None:
        while True:
            with self.state:
                frame = self.waiting.popleft() if self.waiting else None
                if frame is None:
                    self.idle += 1
            if frame is None:
                with self.reading:
                    frame = self.next_call()
            try:
                self.call(frame)
            except OSError:  # the channel: nobody takes the answer
                gone()

    def next_call(self) -> codec.Frame:
        """Read until there is a call for this thread; the others of the messages are dealt with here."""
        while True:
            try:
                frame = codec.recv_frame(self.sock, _GENEROUS)
            except Exception:
                frame = None
            if frame is None:
                gone()
            if frame.kind == wire.CALL:
                with self.state:
                    if self.idle > 1 or self.threads < _THREADS:
                        self.idle -= 1
                        fresh = self.idle == 0
                    else:
                        self.waiting.append(frame)
                        continue
                if fresh and not self.spawn():
                    with self.state:
                        self.idle += 1
                        if self.threads > 1:
                            self.waiting.append(frame)
                            continue
                        self.idle -= 1
                return frame
            if frame.kind == wire.AWAIT:
                self.loop().begin(frame)
            elif frame.kind == wire.CANCEL and self.tasks is not None:
                self.tasks.cancel(frame.number)
            elif frame.kind == wire.BYE:
                self.over.set()

    def loop(self) -> Any:
        if self.tasks is None:
            from psb.partial.tasks import Tasks

            self.tasks = Tasks(self)
        return self.tasks

    def call(self, frame: codec.Frame) -> None:
        number = frame.number
        sink = self.sink(number)
        token = prints.current.set(sink)
        try:
            try:
                function, args, kwargs = self.order(frame)
                self.begun(number)
                value = function(*args, **kwargs)
            except BaseException as e:
                self.failed(number, e, sink)
            else:
                self.done(number, value, sink)
        finally:
            prints.current.reset(token)

    def sink(self, number: int) -> prints.Sink:
        return prints.Sink(lambda parts: self.send(wire.OUT, number, parts))

    def order(self, frame: codec.Frame) -> Tuple[Callable[..., Any], Tuple[Any, ...], Dict[str, Any]]:
        """The function of a call, with its arguments."""
        ref, args, kwargs = frame.value(trusting, _GENEROUS)
        function = self.found.get(ref)
        if function is None:
            function = self.found[ref] = find(*ref)
        return function, args, kwargs

    def begun(self, number: int) -> None:
        marks.mark(self.entered, number)

    def done(self, number: int, value: object, sink: prints.Sink) -> None:
        try:
            parts = codec.encode(value, wire.RESULT, number)
        except (TypeError, ValueError) as e:
            self.failed(number, e, sink)
            return
        sink.close()
        self.send_parts(parts)

    def failed(self, number: int, e: BaseException, sink: Optional[prints.Sink]) -> None:
        told = []
        if self.facts:
            note(e)
            told = facts(e)
        if sink is not None:
            sink.close()
        e.__traceback__ = _without_us(e.__traceback__)
        self.send(wire.RAISED, number, (e, told))


def _without_us(tb: Any) -> Any:
    # The frames of this package say nothing about the program.
    while tb is not None and tb.tb_next is not None and os.path.dirname(tb.tb_frame.f_code.co_filename) == _HERE:
        tb = tb.tb_next
    return tb


_HERE = os.path.dirname(__file__)


def gone() -> NoReturn:
    """Nobody is there any more: end now, whatever runs."""
    os._exit(0)


class _Trusting:
    psb_imports = True

    def __call__(self, name: str) -> Optional[type]:
        module, _, qualname = name.partition(":")
        at: Any = sys.modules.get(module)
        for part in qualname.split("."):
            at = getattr(at, part, None)
        return at if isinstance(at, type) else None


trusting = _Trusting()
"""What the calling side sends may be of any class that is loaded here."""


def find(module: str, qualname: str) -> Callable[..., Any]:
    """The function under its name, as the caller named it."""
    from importlib import import_module

    at: Any = sys.modules["__main__"] if module == "__main__" else import_module(module)
    for part in qualname.split("."):
        at = getattr(at, part)
    found: Callable[..., Any] = at
    return found


def load_main(name: Optional[str], path: Optional[str]) -> None:
    """The caller's main program as a module, under a name that does not make it run; as multiprocessing does it."""
    if path is None:
        return
    from importlib.machinery import SourceFileLoader
    from importlib.util import module_from_spec, spec_from_file_location

    loader = SourceFileLoader(name or "__mp_main__", path)  # with its package, for relative imports
    spec = spec_from_file_location(loader.name, path, loader=loader)
    if spec is None:
        raise ImportError(f"no module in {path}")
    module = module_from_spec(spec)
    module.__name__ = "__mp_main__"
    sys.modules["__mp_main__"] = sys.modules["__main__"] = module
    code = loader.get_code(loader.name)
    exec(code, module.__dict__)  # type: ignore[arg-type]  # a file of source has code


def serve(channel: int) -> None:
    """Everything from the first message to the last."""
    inside.child = True
    from _socket import socket as plain  # all of a socket that is needed here, without what the module beside it imports

    sock: Any = plain(fileno=channel)
    entered = marks.taken(sock)
    hello = codec.recv(sock, trusting, _GENEROUS)
    path = [p for p in hello["path"] if p]
    sys.path[:] = path + [p for p in sys.path if p not in path] if hello.get("other") else path
    if "code" in hello:
        from psb.partial.text import run_text

        os.close(entered)
        run_text(sock, hello)
        return
    server = Server(sock, entered)
    server.facts = not hello["learn"]
    prints.install()
    sink = server.sink(0)
    token = prints.current.set(sink)
    try:
        sys.argv[:] = hello["argv"]
        load_main(*hello["main"])
        if hello["init"] is not None:
            begin = find(*hello["init"][0])
            if hello["init"][1]:
                server.loop().complete(begin, sink)
            else:
                begin()
    except BaseException as e:
        server.failed(0, e, sink)
        sys.exit(0)
    finally:
        prints.current.reset(token)
    sink.close()
    server.send(wire.READY, 0, None)
    server.run()
