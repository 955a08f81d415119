# A door stands in the place of a function and lets through only who may pass. It is no function around the function: what is called
# is looked up when the door is called, and that look-up judges. So nothing of ours is on the stack while the original runs: frames,
# tracebacks, the caller's names and flags are what they are without it, and what is never refused costs a look-up.
from guard import *  # psb: cut

function = type(theirs)
builtin = type(posix.getpid)


class door:
    # In everything that can be asked of it the original. What it keeps has no name: entry, a tuple (original, pick, name, category, last
    # part of the name); pick(entry, frame of the caller) gives what is to be called.
    __slots__ = ("entry", "__weakref__")

    @property
    def __call__(self) -> object:
        e = kept(self)
        return e[1](e, getframe(0).f_back)

    @property
    def __class__(self) -> type:
        return type(kept(self)[0])

    @property
    def __doc__(self) -> object:
        return kept(self)[0].__doc__

    @property
    def __module__(self) -> object:
        return kept(self)[0].__module__

    def __getattr__(self, name: str) -> object:
        return getattr(kept(self)[0], name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(kept(self)[0], name, value)

    def __reduce__(self) -> object:
        return kept(self)[0].__reduce__()

    def __repr__(self) -> str:
        return kept(self)[0].__repr__()


keep = door.entry.__set__
kept = door.entry.__get__
bare_door = door.__new__
del door.entry
door.__name__ = door.__qualname__ = "builtin_function_or_method"


def shut(raw: object, pick: object, name: str, category: str) -> object:
    d = bare_door(door)
    keep(d, (raw, pick, name, category, name.rpartition(".")[2]))
    return d


class latch:
    # The same for a function that is written in Python: it stays the very object, with a new body that asks f for what is to be called
    # and hands on what it was called with.
    __slots__ = ("entry",)

    @property
    def f(self) -> object:
        e = held(self)
        return e[1](e, getframe(0).f_back.f_back)

    @property
    def a(self) -> object:
        f = getframe(0).f_back
        code, given = f.f_code, f.f_locals
        names = code.co_varnames
        out = [given[n] for n in names[: code.co_argcount]]
        if code.co_flags & 4:
            out += given[names[code.co_argcount + code.co_kwonlyargcount]]
        return out

    @property
    def k(self) -> object:
        f = getframe(0).f_back
        code, given = f.f_code, f.f_locals
        n, m = code.co_argcount, code.co_kwonlyargcount
        out = {name: given[name] for name in code.co_varnames[n : n + m]}
        if code.co_flags & 8:
            out.update(given[code.co_varnames[n + m + (1 if code.co_flags & 4 else 0)]])
        return out


hold = latch.entry.__set__
held = latch.entry.__get__
bare_latch = latch.__new__
del latch.entry


def body() -> object:
    return "psb".f(*"psb".a, **"psb".k)


def flat(code: bytes) -> dict:
    # Every instruction stands on the line of the def, from 3.11 on without columns.
    if version < (3, 10):
        return {"co_lnotab": b""}
    if version == (3, 10):
        return {"co_linetable": bytes([len(code), 0])}
    whole, rest = divmod(len(code) // 2, 8)
    return {"co_linetable": bytes([0xEF, 0] * whole + ([0xE7 + rest, 0] if rest else [])), "co_exceptiontable": b""}


def guard_body(f: object, pick: object, name: str, category: str) -> None:
    # f keeps its identity, its signature, its defaults and its place in the source.
    code = f.__code__
    if code.co_freevars or latch in [type(c) for c in code.co_consts]:
        return
    inner = function(code, f.__globals__, f.__name__, f.__defaults__)
    inner.__kwdefaults__, inner.__qualname__, inner.__module__, inner.__doc__ = f.__kwdefaults__, f.__qualname__, f.__module__, f.__doc__
    g = bare_latch(latch)
    hold(g, (inner, pick, name, category, name.rpartition(".")[2]))
    like = body.__code__
    new = {"co_code": like.co_code, "co_names": like.co_names, "co_stacksize": like.co_stacksize, "co_cellvars": ()}
    new["co_consts"] = tuple([g if type(c) is str else c for c in like.co_consts])
    f.__code__ = code.replace(**new, **flat(like.co_code))
