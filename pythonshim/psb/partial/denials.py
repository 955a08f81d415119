"""Which refusals stand behind an exception.

The kernel refuses a file with a plain OSError. The box says which file that was (a fact of the box: reported, not proved); whether it was
the box's walls and not the file's own permissions, the half outside judges by looking at the file itself."""

from __future__ import annotations

import errno
import os
from typing import Any, Dict, Iterator, List, Set, Tuple

from psb.errors import SandBoxError
from psb.raised import short, space_of

_WALLS = (errno.ENOENT, errno.EACCES, errno.EPERM, errno.EROFS)
_MOST = 64

Fact = Tuple[str, str]  # "read" or "write", path


def chain(e: BaseException) -> Iterator[BaseException]:
    """e, its causes and contexts, and the members of groups; each once, _MOST at most."""
    todo, seen = [e], set()  # type: Tuple[List[Any], Set[int]]
    while todo and len(seen) < _MOST:
        x = todo.pop(0)
        if x is None or id(x) in seen:
            continue
        seen.add(id(x))
        yield x
        todo += [x.__cause__, None if x.__suppress_context__ else x.__context__]
        members = getattr(x, "exceptions", ())
        if isinstance(members, tuple):
            todo += [m for m in members if isinstance(m, BaseException)]


def sandbox_denials(e: BaseException) -> List[str]:
    """The refusals behind an exception, through causes, contexts and groups, each as "OP OBJECT" or, where a refusal has no such line,
    as "Class: message". Empty when psb refused nothing that it led to."""
    out: Dict[str, None] = {}
    for x in chain(e):
        found = space_of(x).get("__psb_denials__", ())
        if isinstance(x, SandBoxError):
            found = [*_lines(x.denials), *found] or ([f"{type(x).__name__}: {short(x)}"] if _refusal(x) else [])
        out.update(dict.fromkeys(found))
    return list(out)


def _lines(denials: Any) -> List[str]:
    # What a box sent may be anything.
    return [d for d in denials if isinstance(d, str)] if isinstance(denials, (list, tuple)) else []


def _refusal(x: SandBoxError) -> bool:
    # The kinds that are a rule's: a crash or a broken channel refused nothing.
    return type(x).__name__.startswith(("Rule", "EvalSyntax"))


def facts(e: BaseException) -> List[Fact]:
    """In the box: the files that system calls refused behind e."""
    out: List[Fact] = []
    for x in chain(e):
        if not isinstance(x, OSError) or x.errno not in _WALLS:
            continue
        for name in (x.filename, x.filename2):
            if isinstance(name, (str, bytes)):
                path = os.path.abspath(os.fsdecode(name))
                out.append(("write" if x.errno == errno.EROFS or _readable(path) else "read", path))
    return out[:_MOST]


def note(e: BaseException) -> None:
    """In the box: tell psb what nobody will print there, in the shim's own words: where the error was raised and what it names."""
    import json

    for x in chain(e):
        if not isinstance(x, OSError) or x.errno is None:
            continue
        at, function = _place(x.__traceback__)
        names = ["" if n is None else os.fsdecode(n) if isinstance(n, (str, bytes)) else "" for n in (x.filename, x.filename2)]
        told = {"e": "error", "a": [type(x).__name__, str(x.errno), *names], "f": function[:200], "at": at}
        line = json.dumps(told, separators=(",", ":")).encode() + b"\n"
        if function and len(line) < 4094:
            try:
                os.write(_NOTES, line)
            except OSError:  # no such descriptor: who watches has read it
                pass


_NOTES = -0x505342
_LIBRARY = os.path.dirname(os.__file__) + "/"


def _place(tb: Any) -> Tuple[str, str]:
    # The innermost frame of the program's own.
    at = function = ""
    while tb is not None:
        code = tb.tb_frame.f_code
        if not code.co_filename.startswith((_LIBRARY, "<frozen ")):
            at = f"{code.co_filename}:{tb.tb_lineno}"
            function = f"{tb.tb_frame.f_globals.get('__name__', '')}.{code.co_name}"
        tb = tb.tb_next
    return at, function


def _readable(path: str) -> bool:
    # access(2) does not ask Landlock.
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        return False
    os.close(fd)
    return True


def judge(told: Any) -> List[str]:
    """Outside: those of a box's facts that are refusals of psb, for this process might have done it. Nothing is opened."""
    out: List[str] = []
    if type(told) is not list:
        return out
    for fact in told[:_MOST]:
        if type(fact) is not tuple or len(fact) != 2 or fact[0] not in ("read", "write") or type(fact[1]) is not str:
            continue
        op, path = fact
        try:
            if not os.path.isabs(path) or not os.path.lexists(path) or not os.access(path, os.R_OK if op == "read" else os.W_OK):
                continue
            if os.path.isdir(path) and op == "read":
                op, path = "list", path.rstrip("/") + "/"
        except (OSError, ValueError):
            continue
        line = f"{op} {_shown(path)}"
        if line not in out:
            out.append(line)
    return out


def _shown(path: str) -> str:
    here = os.getcwd().rstrip("/") + "/"
    return path[len(here) :] if path.startswith(here) and path != here else path
