"""Evaluations in a child of this process, which can be killed whatever the text does.

What it does to the process: forks; the child has no descriptor but the pipe of its answer, limits on memory, time and files, and ends by
SIGALRM on its own should its parent be gone. The parent waits without the interpreter's lock, kills at the deadline and always reaps.
Undone: nothing to undo, the child ends. Needs: fork allowed. Called by: psb.guarded. Proved by: tests/evals/test_child.py.
"""

from __future__ import annotations

import builtins
import errno
import gc
import math
import os
import re
import resource
import select
import signal
import struct
import sys
import time
import warnings
from typing import Any, Dict, List, Mapping, Optional

from psb.errors import EvalInterrupted, EvalSyntaxRejected, RuleEvalPermissionError, SandBoxBaseExceptionError, SandBoxError, Violation
from psb.evals import data
from psb.evals.guard import Guard
from psb.evals.rules import Rules
from psb.evals.run import closed_space, outward, plain, prepare, require, run, variables

GRACE = 0.8  # seconds that a child may take to start and to answer beside the timeout
ROOM = 96 << 20  # bytes of address space beside max_alloc, for the interpreter itself
_HEAD = struct.Struct("<4sQ")
_MAGIC = b"psbe"

# Held from the start: a program under rules has other functions in their place.
_fork, _waitpid, _kill, _pipe, _exit = os.fork, os.waitpid, os.kill, os.pipe, os._exit
_setrlimit, _getrlimit, _alarm, _signal = resource.setrlimit, resource.getrlimit, signal.setitimer, signal.signal


def evaluate(source: Any, kind: str, rules: Rules, names: Optional[Mapping[str, Any]]) -> Any:
    """The value of source, or the data among its variables, from a child; its errors are EvalInterrupted and the text's own."""
    from psb import codec

    reader, writer = _pipe()
    pid = -1
    try:
        pid = _forked()
        if pid == 0:
            _child(writer, source, kind, rules, names, codec)
        os.close(writer)
        writer = -1
        raw = _wait(reader, rules)
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)
        status = _end(pid) if pid > 0 else 0
    return _value(raw, status, rules, codec)


def _forked() -> int:
    _hush()
    try:
        return _fork()
    except (OSError, PermissionError) as e:
        error = SandBoxError(f"psb: no child for evaluated text: fork is refused ({os.strerror(e.errno) if e.errno else e})")
        error.hint = "grant fork to the program, or pass in_process=True, where only turns, bytes and depth are bounded at once"
        raise error from None
    except RuntimeError as e:
        error = SandBoxError(f"psb: no child for evaluated text: {e}")
        error.hint = "pass in_process=True"
        raise error from None


_HERE = re.escape(__name__) + r"\Z"


def _hush() -> None:
    # From 3.12 fork warns in a process with threads. The child runs no code of other threads and takes none of their locks.
    if sys.version_info < (3, 12):
        return
    first = warnings.filters[0] if warnings.filters else None
    if first is None or getattr(first[3], "pattern", "") != _HERE:
        warnings.filterwarnings("ignore", message=".*multi-threaded.*fork", category=DeprecationWarning, module=_HERE)


def _wait(reader: int, rules: Rules) -> bytes:
    """What the child wrote until it closed the pipe, until the deadline, or until it is too much."""
    end = time.monotonic() + rules.limits.timeout + GRACE
    most = rules.limits.max_alloc * 4 + (1 << 20)
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    out: List[bytes] = []
    size = 0
    while True:
        left = end - time.monotonic()
        if left <= 0:
            raise _stopped("timeout", f"more than {rules.limits.timeout:g} s")
        if not poll.poll(math.ceil(left * 1000)):
            continue
        part = os.read(reader, 1 << 16)
        if not part:
            return b"".join(out)
        out.append(part)
        size += len(part)
        if size > most:
            raise _stopped("max_alloc", "the result is too big")


def _end(pid: int) -> int:
    """Kills and reaps the child; its wait status, or 0 where somebody else reaped it."""
    try:
        done, status = _waitpid(pid, os.WNOHANG)
        if done:
            return status
        _kill(pid, signal.SIGKILL)
        while True:
            try:
                return _waitpid(pid, 0)[1]
            except InterruptedError:
                continue
    except (ChildProcessError, ProcessLookupError):
        return 0


def _stopped(reason: str, what: str) -> EvalInterrupted:
    error = EvalInterrupted(f"psb: evaluated text stopped: {what} ({reason})")
    error.reason = reason
    return error


def _value(raw: bytes, status: int, rules: Rules, codec: Any) -> Any:
    if len(raw) < _HEAD.size or raw[:4] != _MAGIC or _HEAD.unpack_from(raw)[1] != len(raw) - _HEAD.size:
        raise _died(status, rules)
    answer = codec.loads(raw[_HEAD.size :])
    if type(answer) is not dict:
        raise _died(status, rules)
    said = answer.get("out")
    if type(said) is str and said:
        print(said, end="")
    if "value" in answer:
        return answer["value"]
    raise _error(answer)


def _died(status: int, rules: Rules) -> BaseException:
    # A status of 0 is one that somebody else took.
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number in (signal.SIGALRM, signal.SIGXCPU):
        return _stopped("timeout", f"more than {rules.limits.timeout:g} s")
    if number == signal.SIGKILL or (os.WIFEXITED(status) and os.WEXITSTATUS(status) == _NO_MEMORY):
        return _stopped("max_alloc", "out of memory")
    what = f"signal {number}" if number else "no answer"
    error = SandBoxError(f"psb: the child that evaluated the text ended with {what}")
    error.hint = "the text crashed the interpreter; nothing of it reached this process" if number else ""
    return error


_NO_MEMORY = 71


def _error(answer: Mapping[str, Any]) -> BaseException:
    """The error the child tells of, of a class of this side's own."""
    text, kind = str(answer.get("text", "")), answer.get("kind")
    if kind == "interrupted":
        interrupted = EvalInterrupted(text)
        interrupted.reason = str(answer.get("reason", ""))
        return interrupted
    if kind == "rejected":
        rejected = EvalSyntaxRejected(text)
        rejected.violations = tuple(Violation(*v) for v in answer.get("violations", ()) if len(v) == 5)
        if rejected.violations:
            rejected.filename, rejected.lineno, rejected.offset = "<string>", rejected.violations[0].line, rejected.violations[0].column + 1
        return _hinted(rejected, answer)
    if kind == "rule":
        rule = RuleEvalPermissionError(text)
        rule.target, rule.key = str(answer.get("target", "")), str(answer.get("key", ""))
        return _hinted(rule, answer)
    if kind == "base":
        base = SandBoxBaseExceptionError(text)
        base.name = str(answer.get("class", ""))
        return base
    if kind == "box":
        return _hinted(SandBoxError(text), answer)
    cls = vars(builtins).get(str(answer.get("class")))
    if not isinstance(cls, type) or not issubclass(cls, Exception):
        return SandBoxError(f"{answer.get('class')}: {text}")
    args = answer.get("args")
    if isinstance(args, tuple):
        try:
            return cls(*args)
        except Exception:
            pass
    return plain(cls, cls.__name__, text)


def _hinted(error: SandBoxError, answer: Mapping[str, Any]) -> SandBoxError:
    error.hint = str(answer.get("hint", ""))
    error.denials = tuple(str(d) for d in answer.get("denials", ()))
    return error


# The child.


def _child(writer: int, source: Any, kind: str, rules: Rules, names: Optional[Mapping[str, Any]], codec: Any) -> None:
    """Never returns."""
    status = 1
    try:
        try:
            _confine(writer, rules)
            said: List[str] = []
            raw = codec.dumps(_answer(source, kind, rules, names, said, codec))
        except MemoryError:
            raw = codec.dumps({"kind": "interrupted", "reason": "max_alloc", "text": "psb: evaluated text stopped: out of memory (max_alloc)"})
        except BaseException as e:
            raw = codec.dumps({"kind": "box", "text": f"psb: the child that evaluates text failed: {type(e).__name__}: {e}"})
        view = memoryview(_HEAD.pack(_MAGIC, len(raw)) + raw)
        while view:
            view = view[os.write(writer, view) :]
        status = 0
    except MemoryError:
        status = _NO_MEMORY
    finally:
        _exit(status)


def _confine(writer: int, rules: Rules) -> None:
    # The alarm first: it ends this process whatever else happens, also when the parent is gone.
    _signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _alarm(signal.ITIMER_REAL, rules.limits.timeout + GRACE + 0.5)
    try:
        signal.set_wakeup_fd(-1)
    except ValueError:
        pass
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCHLD, signal.SIGPIPE):
        _signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
    sys.settrace(None)
    sys.setprofile(None)
    gc.freeze()
    _descriptors(writer)
    seconds = math.ceil(rules.limits.timeout) + 1
    _lower(resource.RLIMIT_CPU, seconds)
    _lower(resource.RLIMIT_CORE, 1)
    if not rules.builtin("open"):
        _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_AS, _mapped() + 2 * rules.limits.max_alloc + ROOM)


def _lower(which: int, value: int) -> None:
    hard = _getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    _setrlimit(which, (value, value))


def _mapped() -> int:
    with open("/proc/self/statm", "rb") as f:
        return int(f.read().split()[0]) * resource.getpagesize()


def _descriptors(writer: int) -> None:
    """Standard streams become /dev/null, everything else but writer is closed."""
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        if fd != writer:
            os.dup2(null, fd)
    try:
        listed = [int(n) for n in os.listdir("/proc/self/fd")]
    except OSError:
        listed = list(range(3, min(_getrlimit(resource.RLIMIT_NOFILE)[0], 1 << 16)))
    for fd in listed:
        if fd > 2 and fd != writer:
            try:
                os.close(fd)
            except OSError as e:
                if e.errno != errno.EBADF:
                    raise


def _answer(source: Any, kind: str, rules: Rules, names: Optional[Mapping[str, Any]], said: List[str], codec: Any) -> Dict[str, Any]:
    try:
        value = _evaluated(source, kind, rules, names, said, codec)
        return {"value": value, "out": "".join(said)}
    except BaseException as e:
        return {**_told(outward(e), codec), "out": "".join(said)}


def _evaluated(source: Any, kind: str, rules: Rules, names: Optional[Mapping[str, Any]], said: List[str], codec: Any) -> Any:
    p = prepare(source, kind, rules, have=(names,))
    space = closed_space(p, names)
    require(p, space, None)
    guard = Guard(rules, space, None, p.mine, closed=True)
    guard.out_ = said
    value = run(p, guard, space, None)
    if kind == "eval":
        _formed(value, "the result", codec)
        return value
    return {k: v for k, v in variables(space, names).items() if _forms(v, codec)}


def _formed(value: Any, what: str, codec: Any) -> None:
    kind = data.foreign(value, None)
    if kind is not None and not _forms(value, codec):
        raise data.refused(what, kind)
    try:
        codec.dumps(value)
    except (TypeError, ValueError, RecursionError) as e:
        error = RuleEvalPermissionError(f"psb: evaluated text refused: {what} has no form that can be sent: {e}")
        error.hint = "let the text give numbers, texts, lists, dicts or dates"
        raise error from None


def _forms(value: Any, codec: Any) -> bool:
    from psb.evals import made

    if any(made.is_instance(v) for v in data._walk(value)):
        return False
    try:
        codec.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _told(e: BaseException, codec: Any) -> Dict[str, Any]:
    if isinstance(e, EvalInterrupted):
        return {"kind": "interrupted", "text": str(e), "reason": e.reason}
    if isinstance(e, MemoryError):
        return {"kind": "interrupted", "text": "psb: evaluated text stopped: out of memory (max_alloc)", "reason": "max_alloc"}
    if isinstance(e, EvalSyntaxRejected):
        return {"kind": "rejected", "text": str(e), "violations": [tuple(v) for v in e.violations], **_hints(e)}
    if isinstance(e, RuleEvalPermissionError):
        return {"kind": "rule", "text": str(e), "target": e.target, "key": e.key, **_hints(e)}
    if isinstance(e, SandBoxBaseExceptionError):
        return {"kind": "base", "text": str(e), "class": e.name}
    if isinstance(e, SandBoxError):
        return {"kind": "box", "text": str(e), **_hints(e)}
    if not isinstance(e, Exception):
        return {"kind": "base", "text": f"psb: evaluated text ended with {type(e).__name__}", "class": type(e).__name__}
    told: Dict[str, Any] = {"kind": "error", "class": type(e).__name__, "text": str(e)}
    if _forms(e.args, codec):
        told["args"] = e.args
    return told


def _hints(e: SandBoxError) -> Dict[str, Any]:
    return {"hint": e.hint, "denials": tuple(e.denials)}
