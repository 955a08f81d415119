"""Exceptions as plain values and back: class, arguments, attributes, notes, the chain and the traceback's text.

The receiver takes a class only from modules it has loaded already, only an Exception, and never runs the class's own __init__ or __new__:
what arrives is the class of the receiver with fields set. A class that it does not have becomes an empty one of the same name below the
nearest base that it has and below which a class can be made without code of the program. So does one with a __del__: that would run on what the
sender chose, and also where the message is refused."""

from __future__ import annotations

import sys
import weakref
from typing import Any, Dict, List, Optional, Set, Tuple

from psb.codec_types import Known, name_of, registered, title
from psb.errors import SandBoxBaseExceptionError, SandBoxCrashed, SandBoxError, SandBoxProtocolError

_CHAIN = 64  # exceptions of one message
_TEXT = 1 << 16  # characters of a traceback, of a text that stands for a value
_Group: Any = getattr(sys.modules["builtins"], "BaseExceptionGroup", None)


class RemoteTraceback(Exception):
    """Stands as the cause at the end of an exception's chain and prints where in the box it was raised."""

    def __str__(self) -> str:
        text = self.args[0] if self.args and type(self.args[0]) is str else ""
        return f"in the box\n'''\n{text}'''"


def to_plain(e: BaseException) -> Any:
    """A list of plain records, the exception first; those it names as cause, context and members follow by their index."""
    todo: List[BaseException] = [e]
    index = {id(e): 0}
    out: List[Dict[str, Any]] = []

    def at(x: Optional[BaseException]) -> Optional[int]:
        if x is None:
            return None
        if id(x) not in index:
            if len(todo) >= _CHAIN:
                return None
            index[id(x)] = len(todo)
            todo.append(x)
        return index[id(x)]

    def member(x: BaseException) -> Optional[int]:
        # Each place of a group has a record of its own: whoever walks a group walks every one of its members.
        if id(x) not in index:
            return at(x)
        if len(todo) >= _CHAIN:
            return None
        todo.append(x)
        return len(todo) - 1

    while len(out) < len(todo):
        x = todo[len(out)]
        if type(x) is RemoteTraceback:
            out.append({"remote": str(x.args[0]) if x.args else ""})
            continue
        members = [member(m) for m in x.exceptions] if _Group is not None and isinstance(x, _Group) else None
        out.append(
            {
                "names": [name_of(c) for c in type(x).__mro__ if issubclass(c, BaseException)],
                "args": tuple(_plain(a) for a in (x.args if members is None else x.args[:1])),
                "os": {n: _plain(getattr(x, n)) for n in _OS if getattr(x, n) is not None} if isinstance(x, OSError) else None,
                "attrs": _attributes(x),
                "text": short(x),
                "cause": at(x.__cause__),
                "context": at(x.__context__),
                "quiet": x.__suppress_context__,
                "members": members,
            }
        )
    out[0]["traceback"] = _traceback(e)
    return out


def _attributes(x: BaseException) -> Dict[str, Any]:
    out = {}
    for name, value in list(getattr(x, "__dict__", {}).items()):
        if type(name) is str and (not name.startswith("__") or name == "__notes__"):
            out[name] = _plain(value)
    # Members that some built-in classes keep beside their arguments.
    for name in ("name", "path", "value", "code") if isinstance(x, (ImportError, AttributeError, NameError)) else ():
        if getattr(x, name, None) is not None:
            out.setdefault(name, _plain(getattr(x, name)))
    return out


def _plain(value: Any) -> Any:
    from psb.codec_get import MAX_DEPTH
    from psb.codec_put import Writer

    try:
        Writer(MAX_DEPTH // 2).write(value)
        return value
    except (TypeError, ValueError):
        return short(value, repr)


def short(value: Any, show: Any = str) -> str:
    """A value's text, cut; one that cannot be shown has a text, too."""
    try:
        text = show(value)
    except Exception:  # the program's own method
        text = f"<{title(type(value))} that cannot be shown>"
    return str(text)[:_TEXT]


def _traceback(e: BaseException) -> str:
    import traceback

    try:
        text = "".join(traceback.format_exception(type(e), e, e.__traceback__))
    except Exception:  # a __str__ of the program's
        text = f"{title(type(e))}\n"
    return text if len(text) <= _TEXT else text[: _TEXT // 2] + "\n...\n" + text[-_TEXT // 2 :]


def from_plain(plain: Any, known: Optional[Known] = None) -> BaseException:
    """The exception. What is no Exception in the receiver's eyes becomes SandBoxBaseExceptionError."""
    if type(plain) is not list or not 0 < len(plain) <= _CHAIN or any(type(p) is not dict for p in plain):
        raise SandBoxProtocolError("psb: a message holds an exception of no form")
    _members_once(plain)
    made: List[Optional[BaseException]] = [None] * len(plain)
    for i in range(len(plain) - 1, -1, -1):  # members mostly follow their group
        made[i] = _member(plain, made, i, known)
    all_made = [m for m in made if m is not None]
    for p, e in zip(plain, all_made):
        _put(e, "__cause__", _pick(all_made, p.get("cause")))
        _put(e, "__context__", _pick(all_made, p.get("context")))
        _put(e, "__suppress_context__", p.get("quiet") is True)
    _cut_cycles(all_made[0])
    text = plain[0].get("traceback")
    if type(text) is str:
        _end_with(all_made[0], text)
    return all_made[0]


def _members_once(plain: List[Dict[str, Any]]) -> None:
    # Groups that share members are a tree of exponential size for everybody who prints or walks them.
    used: Set[int] = set()
    for p in plain:
        members = p.get("members")
        for m in members if type(members) is list else ():
            if type(m) is int and m in used:
                raise SandBoxProtocolError("psb: a message holds an exception that is a member of groups twice")
            used.add(m if type(m) is int else -1)


def _put(e: BaseException, name: str, value: Any) -> None:
    # Past the class, which may be the program's and have a __setattr__ of its own.
    getattr(BaseException, name).__set__(e, value)


def _of(e: BaseException, name: str) -> Any:
    return getattr(BaseException, name).__get__(e)


def space_of(e: BaseException) -> Dict[str, Any]:
    """An exception's own attributes, past its class."""
    found: Dict[str, Any] = BaseException.__dict__["__dict__"].__get__(e)
    return found


def _pick(made: List[BaseException], i: Any) -> Optional[BaseException]:
    if i is None:
        return None
    if type(i) is not int or not 0 <= i < len(made):
        raise SandBoxProtocolError("psb: a message holds an exception of no form")
    return made[i]


def _member(plain: List[Dict[str, Any]], made: List[Optional[BaseException]], i: int, known: Optional[Known]) -> BaseException:
    p = plain[i]
    if "remote" in p:
        return RemoteTraceback(p["remote"] if type(p["remote"]) is str else "")
    names, args, attrs = p.get("names"), p.get("args"), p.get("attrs")
    if type(names) is not list or not names or any(type(n) is not str for n in names) or type(args) is not tuple or type(attrs) is not dict:
        raise SandBoxProtocolError("psb: a message holds an exception of no form")
    members = p.get("members")
    if members is not None and _Group is not None:
        inner = [made[m] for m in members if type(m) is int and i < m < len(made)] if type(members) is list else []
        if inner:
            return _group(names, args, inner)
    cls = _class(names, known)
    if cls is None:
        e: BaseException = SandBoxBaseExceptionError(f"psb: what ended the call is no Exception: {_called(names[0])}: {_said(p)}")
        e.name = _called(names[0])  # type: ignore[attr-defined]
        e.__dict__["code"] = args[0] if names[0] == "builtins:SystemExit" and args and type(args[0]) in (int, str) else None
        return e
    fields = p.get("os")
    if fields is not None and type(fields) is not dict:
        raise SandBoxProtocolError("psb: a message holds an exception of no form")
    e = _new(cls, args, fields)
    _set(e, attrs)
    return e


def _said(p: Dict[str, Any]) -> str:
    text = p.get("text")
    return text[:1000] if type(text) is str else ""


def _called(name: str) -> str:
    return name.rpartition(":")[2][:200]


def _class(names: List[str], known: Optional[Known]) -> Optional[type]:
    """The class for a list of names from the class itself up to BaseException."""
    trusted = getattr(known, "psb_imports", False) is True
    for name in names[:64]:
        cls = _find(name, known)
        if cls is None:
            continue
        if not issubclass(cls, Exception):
            return None
        if finalized(cls):
            continue
        if not trusted and issubclass(cls, (SandBoxCrashed, SandBoxProtocolError)):
            return SandBoxError  # those are the words of who started the box
        if name == names[0]:
            return cls
        if not _plain_base(cls):
            continue
        module, _, qualname = names[0].rpartition(":")
        called = qualname.rpartition(".")[2]
        if not called.isidentifier() or len(names[0]) > 300:
            return cls
        return type(called, (cls,), {"__module__": module, "__qualname__": qualname, "__doc__": None})
    return None


def _plain_base(cls: type) -> bool:
    # No code of the program runs when a class is made below it, or an instance goes.
    if type(cls) is not type:
        return False
    return not any("__init_subclass__" in vars(c) for c in cls.__mro__ if c is not object)


def finalized(cls: type) -> bool:
    """Whether code of a program runs when an object of the class goes."""
    return any("__del__" in vars(c) for c in cls.__mro__)


def _find(name: str, known: Optional[Known]) -> Optional[type]:
    module, _, qualname = name.rpartition(":")
    found = registered.get(name) or (known(name) if known is not None else None)
    if found is None:
        # Only in what is loaded, only in namespaces themselves: no import, no __getattr__ of anybody.
        at: Any = sys.modules.get(module)
        for part in qualname.split("."):
            space = getattr(at, "__dict__", None) if isinstance(at, (type, type(sys))) else None
            at = space.get(part) if space is not None else None
        found = at
    if not isinstance(found, type) or not issubclass(found, BaseException):
        return None
    return found if name_of(found) == name else None


def _new(cls: Any, args: Tuple[Any, ...], fields: Any) -> BaseException:
    # Built-in code alone makes it: the first class of the interpreter's own whose layout is the class's.
    if _Group is not None and issubclass(cls, _Group):
        return Exception(*args)  # a group needs members
    base: Any = _BASES.get(cls) or next((c for c in cls.__mro__ if c.__module__ == "builtins" and _fits(c, cls)), Exception)
    _BASES[cls] = base
    if issubclass(base, UnicodeError) and base is not UnicodeError and not _unicode(base, args):
        return ValueError(*args)
    e: BaseException = base.__new__(cls, *args)
    if issubclass(base, OSError):
        for name in _OS:
            if fields is not None and fields.get(name) is not None:
                getattr(OSError, name).__set__(e, fields[name])
    else:
        try:
            base.__init__(e, *args)
        except Exception:  # a class that keeps other arguments than its base takes
            pass
    _put(e, "args", args)
    return e


_OS = ("errno", "strerror", "filename", "filename2")
_BASES: "weakref.WeakKeyDictionary[type, Any]" = weakref.WeakKeyDictionary()


def _fits(base: Any, cls: type) -> bool:
    try:
        base.__new__(cls)
    except TypeError as e:
        return "is not safe" not in str(e)
    return True


def _unicode(base: type, args: Tuple[Any, ...]) -> bool:
    # str() of these reads memory by their own numbers, and older versions do not check them.
    what = str if base is not UnicodeDecodeError else bytes
    i = 0 if base is UnicodeTranslateError else 1
    if len(args) != 4 + i or (i and type(args[0]) is not str) or type(args[-1]) is not str:
        return False
    text, start, end = args[i : i + 3]
    return type(text) is what and type(start) is int and type(end) is int and 0 <= start < end <= len(text)


# What built-in code reads as its own, and must not find replaced.
_FIXED = {"args", "with_traceback", "add_note", "object", "start", "end", "encoding", "reason", "errno", "strerror", "exceptions"}


def _set(e: BaseException, attrs: Dict[str, Any]) -> None:
    space = space_of(e)
    for name, value in attrs.items():
        if type(name) is not str or len(name) > 200:
            raise SandBoxProtocolError("psb: a message holds an exception of no form")
        if name == "__notes__":
            if type(value) is list and all(type(n) is str for n in value):
                space[name] = value
        elif name in ("name", "path") and isinstance(e, ImportError) or name == "name" and isinstance(e, (AttributeError, NameError)):
            member = next((vars(c)[name] for c in type(e).__mro__ if c.__module__ == "builtins" and name in vars(c)), None)
            if member is not None:
                member.__set__(e, value)
            else:  # below 3.10 some have no such member
                space[name] = value
        elif not name.startswith("__") and name not in _FIXED:
            space[name] = value


def _group(names: List[str], args: Tuple[Any, ...], inner: List[Any]) -> BaseException:
    message = args[0] if args and type(args[0]) is str else ""
    whole = all(isinstance(m, Exception) for m in inner)
    made: BaseException = (sys.modules["builtins"].ExceptionGroup if whole else _Group)(message, inner)
    return made


def _cut_cycles(e: BaseException) -> None:
    # A chain that leads into itself would never end for who walks it.
    done: Dict[int, bool] = {}
    stack = [(e, False)]
    while stack:
        x, left = stack.pop()
        if left:
            done[id(x)] = True
            continue
        done[id(x)] = False
        stack.append((x, True))
        for side in ("__cause__", "__context__"):
            y = _of(x, side)
            if y is None:
                continue
            if done.get(id(y)) is False or y is x:
                quiet = _of(x, "__suppress_context__")
                _put(x, side, None)
                _put(x, "__suppress_context__", quiet)
            elif id(y) not in done:
                stack.append((y, False))


def _end_with(e: BaseException, text: str) -> None:
    space_of(e)["__psb_traceback__"] = text
    seen = set()
    while id(e) not in seen:
        seen.add(id(e))
        below = _of(e, "__cause__")
        if below is None and not _of(e, "__suppress_context__"):
            below = _of(e, "__context__")
        if below is None:
            break
        e = below
    if type(e) is not RemoteTraceback and _of(e, "__cause__") is None:
        quiet = _of(e, "__suppress_context__")
        _put(e, "__cause__", RemoteTraceback(text))
        _put(e, "__suppress_context__", quiet)
