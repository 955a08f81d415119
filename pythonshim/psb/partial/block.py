"""sandboxes() and run(): the block in which @sandbox functions run in a box."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from time import monotonic
from types import FunctionType
from typing import TYPE_CHECKING, Any, Callable, Coroutine, Dict, List, Optional, Sequence, Tuple, TypeVar, Union

from psb import codec
from psb.errors import SandBoxError, SandBoxProtocolError
from psb.partial import prints, rules as ruling, wire
from psb.partial.call import AsyncCall, Call, Ended
from psb.partial.decorate import Ref, is_async, name_of
from psb.partial.denials import judge
from psb.partial.inside import is_in_sandbox
from psb.raised import space_of

if TYPE_CHECKING:
    from psb.partial.box import Box  # at run time it is imported where a box is opened: in a box this module opens none

T = TypeVar("T")

_CRASHES = 3  # boxes in a row that ended before they answered a call
_START = 300.0  # seconds that a box has to load the caller's modules and run init_fn


class sandboxes:
    """A block in which @sandbox functions run in a box: `with sandboxes():` or `async with sandboxes():`.

    init_fn runs in the box each time one starts. The policy is the file `.py-sandboxes` beside the module that opens the block, or `policy`.
    learn=True writes what the run needed into it, learn="FILE" into another one. python, python_args and envs are the box's interpreter,
    its options, and variables for it. With graceful_shutdown=False the end of the block does not wait for calls in flight.
    A box that is not ready after start_timeout seconds is ended, with a SandBoxError; None waits for ever.
    Rules of the policy's tables may be added: files={"data/": "read"}, net=, env=, limits=, syscalls=, python_import=, python_call=.

    One block is open at a time in a process; opening it again inside, without arguments, counts. In a box it does nothing."""

    def __init__(
        self,
        init_fn: Optional[Callable[[], Any]] = None,
        *,
        policy: Union[str, "os.PathLike[str]", None] = None,
        learn: Union[bool, str, "os.PathLike[str]", None] = None,
        python: Optional[str] = None,
        python_args: Sequence[str] = (),
        envs: Optional[Dict[str, str]] = None,
        graceful_shutdown: bool = True,
        start_timeout: Optional[float] = _START,
        psb: Optional[str] = None,
        budget: codec.Budget = codec.Budget(),
        **rules: Any,
    ) -> None:
        self._given = any(x for x in (init_fn, policy, learn, python, python_args, envs, psb, rules)) or not graceful_shutdown
        self._given = self._given or start_timeout != _START
        if start_timeout is not None and not 0 < start_timeout <= threading.TIMEOUT_MAX:
            raise ValueError(f"psb: start_timeout is a number of seconds or None, not {start_timeout!r}")
        self._start = start_timeout
        self._inner = is_in_sandbox()
        self._crashes = 0
        self._box: Optional[Box] = None
        self._opened: Optional[sandboxes] = None
        self._depth = 0
        self._closed = True
        self._owner = os.getpid()
        self._starting = threading.Lock()
        self._graceful = graceful_shutdown
        if self._inner:
            return
        from psb.partial.box import CHILD, interpreter
        from psb.program import find_psb

        self._budget = budget
        self._learn = bool(learn)
        self._environ = {**os.environ, **(envs or {})}
        self._hello: Dict[str, Any] = {"init": _reference(init_fn), "learn": self._learn, "other": python is not None}
        self._hello.update(argv=list(sys.argv), main=_main())
        self._other = python is not None
        words = [find_psb(psb, "sandboxes"), f"--python={interpreter(python)}", f"--caller={_caller()}"]
        if policy is not None:
            words.append(f"--policy={os.fspath(policy)}")
        if learn:
            words.append("--learn" if learn is True else f"--learn={os.fspath(learn)}")
        words += [f"--allow=env {name}" for name in envs or {}]
        words += ruling.words(rules, self._environ)
        words += [*_interpreter_options(python), *python_args, CHILD]
        self._words = words

    # The block.

    def __enter__(self) -> "sandboxes":
        if not self._inner and self._open():
            try:
                self._current()
            except BaseException:
                self._close(False)
                raise
        return self._opened or self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if not self._inner:
            self._close(kind is None)

    async def __aenter__(self) -> "sandboxes":
        import asyncio

        if not self._inner and self._open():
            try:
                await asyncio.get_running_loop().run_in_executor(None, self._current)
            except BaseException:
                self._close(False)
                raise
        return self._opened or self

    async def __aexit__(self, kind: Any, *_: Any) -> None:
        import asyncio

        if not self._inner:
            await asyncio.get_running_loop().run_in_executor(None, self._close, kind is None)

    def _open(self) -> bool:
        global _block
        with _opening:
            if _block is not None and _block._owner == os.getpid():
                if self._given:
                    raise SandBoxError("psb: a sandboxes() block is open already, and its rules hold: one block at a time")
                _block._depth += 1
                self._opened = _block
                return False
            self._owner = os.getpid()
            self._closed = False
            self._crashes = 0
            self._depth = 1
            _block = self
            return True

    def _close(self, graceful: bool) -> None:
        global _block
        block = self._opened or self
        self._opened = None
        if block._owner != os.getpid():
            return  # a forked copy
        with _opening:
            block._depth -= 1
            if block._depth > 0:
                return
            if _block is block:
                _block = None
        with block._starting:
            block._closed = True
            box = block._box
        if box is not None and box.ended is None:
            box.end(graceful and block._graceful)

    # Boxes.

    def _current(self) -> Box:
        """The box that runs, started where none does."""
        if self._owner != os.getpid():
            raise SandBoxError("psb: this process is a forked copy of the one that opened the sandboxes() block: open its own here")
        box = self._box
        if box is not None and box.ended is None:
            return box
        with self._starting:
            if self._closed:
                raise SandBoxError("psb: the sandboxes() block is closed")
            box = self._box
            if box is not None and box.ended is None:
                return box
            if self._crashes >= _CRASHES and box is not None:
                e = SandBoxError(f"psb: the box ended {_CRASHES} times in a row ({box.ended}): it is not started again in this block")
                e.__cause__ = box.ended
                raise e
            from psb.partial.box import Box

            self._box = None
            hello = {**self._hello, "path": search_path(self._other)}
            box = Box(self._words, self._environ, hello, self._budget)
            try:
                self._wait_for(box)
            except BaseException:
                box.end(False)
                raise
            self._box = box
            return box

    def _wait_for(self, box: Box) -> None:
        # Whatever keeps it: a module that does not end, a loop, a stop by a signal of its own. What it prints gives it no time.
        until = None if self._start is None else monotonic() + self._start
        while True:
            if not box.starting.wait(-1 if until is None else max(0.0, until - monotonic())):
                box.kill()
                e = SandBoxError(f"psb: the box was not ready after {self._start:g} seconds, and was ended: its modules and init_fn take longer, or it stopped")
                e.hint = "sandboxes(start_timeout=SECONDS)"
                raise e
            for news in box.starting.take():
                if isinstance(news, Ended):
                    raise news.again()
                if news.kind == wire.READY:
                    return
                _outcome(news, box, None)

    # Calls.

    def call(self, ref: Ref, args: Any, kwargs: Any, known: codec.Known) -> Any:
        """Call a plain function in the box; any thread."""
        self._findable(ref)
        from psb.partial.box import Gone

        while True:
            box, call = self._current(), Call()
            try:
                box.send(call, wire.CALL, (ref, args, kwargs))
            except Gone:
                continue
            try:
                while not call.answered:
                    call.wait()
                    done, value = self._heard(box, call, known)
                    if done:
                        return value
            finally:
                if not call.answered:
                    box.abandon(call)

    async def awaited(self, ref: Ref, args: Any, kwargs: Any, known: codec.Known) -> Any:
        """Call an async function in the box."""
        self._findable(ref)
        import asyncio

        from psb.partial.box import Gone

        loop = asyncio.get_running_loop()
        while True:
            box = self._box
            if box is None or box.ended is not None or self._owner != os.getpid():
                box = await loop.run_in_executor(None, self._current)
            call = AsyncCall(loop)
            try:
                parts = box.register(call, wire.AWAIT, (ref, args, kwargs))
            except Gone:
                continue
            try:
                await _write(loop, box, parts)
                while not call.answered:
                    await call.arrival()
                    done, value = self._heard(box, call, known)
                    if done:
                        return value
            finally:
                if not call.answered:
                    box.abandon(call)

    def _heard(self, box: Box, call: Call, known: codec.Known) -> Tuple[bool, Any]:
        """Whether what has come is the call's value, and that; its error is raised. A call that is answered without either is to be repeated."""
        for news in call.take():
            if isinstance(news, Ended):
                call.answered = True
                self._ended(box)
                if call.begun or not _may_repeat(news.error):
                    raise news.again()
                break
            if news.kind != wire.OUT:
                call.answered = True
                self._crashes = 0
            done, value = _outcome(news, box, known)
            if done:
                return True, value
        return False, None

    def _findable(self, ref: Ref) -> None:
        if ref[0] == "__main__" and self._hello["main"][1] is None:
            raise SandBoxError(f"psb: {ref[1]} was typed at a prompt or in a cell: a box finds functions in files alone")

    def _ended(self, box: Box) -> None:
        # Counted once for each box, whoever hears of it first.
        with _opening:
            if not getattr(box, "counted", False):
                box.counted = True  # type: ignore[attr-defined]
                self._crashes += 1


def _may_repeat(error: BaseException) -> bool:
    return not isinstance(error, SandBoxProtocolError)


async def _write(loop: Any, box: Box, parts: List[Any]) -> None:
    # A short message goes out at once; a big one, one that has to wait for another, or for a box that does not read, must not hold the loop,
    # nor the threads that others need of it.
    import asyncio

    while not box.sending.acquire(False):
        await asyncio.sleep(_ROOM)
    if len(parts) > 1 or len(parts[0]) >= 4096:
        try:
            sent = loop.run_in_executor(None, _send, box, parts)  # one at a time: it holds `sending` until it is through
        except BaseException:  # the loop's threads are over
            box.sending.release()
            raise
        await asyncio.shield(sent)
        return
    try:
        while not box.has_room():
            await asyncio.sleep(_ROOM)
        box.write(parts)
    finally:
        box.sending.release()
        box.cancel_left()


_ROOM = 0.002  # seconds between two looks whether a channel has room again


def _send(box: Box, parts: List[Any]) -> None:
    try:
        box.write(parts)
    finally:
        box.sending.release()
    box.cancel_left()


def _outcome(frame: codec.Frame, box: Box, known: Optional[codec.Known]) -> Tuple[bool, Any]:
    """(True, the value) of an answer, (False, None) of prints, which are written. What a function raised is raised."""
    try:
        value = frame.value(known, box.budget)
        if frame.kind == wire.OUT:
            parts = prints.checked(value)
        elif frame.kind == wire.RAISED and (type(value) is not tuple or len(value) != 2 or not isinstance(value[0], BaseException)):
            raise SandBoxProtocolError("psb: the box raised what is no exception")
    except SandBoxProtocolError:
        box.kill()
        raise
    if frame.kind == wire.OUT:
        prints.replay(parts)
        return False, None
    if frame.kind == wire.RAISED:
        error, told = value
        found = judge(told)
        if found:
            space_of(error)["__psb_denials__"] = found
        raise error
    return True, value


def opened() -> sandboxes:
    """The block that is open; SandBoxError where none is."""
    block = _block
    if block is None:
        e = SandBoxError("psb: no sandboxes() block is open: a @sandbox function runs in its box or not at all")
        e.hint = "with sandboxes(): ..."
        raise e
    return block


_block: Optional[sandboxes] = None
_opening = threading.Lock()


def _after_fork() -> None:
    global _opening
    _opening = threading.Lock()  # another thread may have held it


os.register_at_fork(after_in_child=_after_fork)


def _end_at_exit() -> None:
    block = _block
    if block is not None and block._owner == os.getpid() and block._box is not None and block._box.ended is None:
        block._box.end(False)


atexit.register(_end_at_exit)


def run(coro: "Coroutine[Any, Any, T]", *, init_fn: Optional[Callable[[], Any]] = None, **arguments: Any) -> T:
    """asyncio.run(coro) inside `async with sandboxes(init_fn, **arguments)`; gives its value."""
    import asyncio

    if not asyncio.iscoroutine(coro):
        raise ValueError(f"a coroutine was expected, got {coro!r}")

    async def main() -> T:
        async with block:
            return await coro

    try:
        block = sandboxes(init_fn, **arguments)
        return asyncio.run(main())
    finally:
        coro.close()  # where it was never begun


# Who calls.


def _reference(function: Optional[Callable[[], Any]]) -> Optional[Tuple[Ref, bool]]:
    if function is None:
        return None
    if not isinstance(function, FunctionType) or "<" in function.__qualname__:
        raise TypeError("psb: init_fn is a function at the top of a module: the box finds it by its name")
    return name_of(function), is_async(function)


def _main() -> Tuple[Optional[str], Optional[str]]:
    """Name and file of the main module, as far as it has them."""
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    spec = getattr(main, "__spec__", None)
    return (spec.name if spec is not None else None), (os.path.abspath(file) if isinstance(file, str) else None)


def _caller() -> str:
    """The file of the module that opens the block; "-" where it stands in none."""
    frame = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith("psb."):
        frame = frame.f_back  # type: ignore[assignment]
    file = frame.f_globals.get("__file__") if frame is not None else None
    return os.path.abspath(file) if isinstance(file, str) and os.path.isfile(file) else "-"


def search_path(other: bool) -> List[str]:
    """Where modules are found: all of it for the same interpreter, for another one what is not this one's own."""
    path = [os.path.abspath(p) if p == "" else p for p in sys.path if isinstance(p, str)]
    own = tuple(p.rstrip("/") + "/" for p in {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix})
    return [p for p in path if not p.startswith(own)] if other else path


def _interpreter_options(python: Optional[str]) -> List[str]:
    # As multiprocessing: -O, -X, -W and the like hold for the box, too, where it has the same interpreter.
    import subprocess

    return [] if python else list(subprocess._args_from_interpreter_flags())  # type: ignore[attr-defined]
