"""The built-ins as text has them: none of them sees a frame, reads an attribute that is not granted or takes memory that is not counted."""

from __future__ import annotations

import builtins
from typing import Any, Callable, Dict, List, Optional

from psb.evals import made
from psb.evals.budget import Budget
from psb.evals.modules import View
from psb.evals.operate import _length, is_decimal, whole_of

_NONE: Any = object()


class Shims:
    """The half of the guard that gives built-ins."""

    __slots__ = ()
    budget: Budget

    def builtin(self, name: str) -> Any:
        """The built-in that text gets under name."""
        make = _FUNCTIONS.get(name)
        if make is None:
            return getattr(builtins, name)
        guard = self

        def shim(*a: Any, **k: Any) -> Any:
            return make(guard, *a, **k)  # type: ignore[misc]

        shim.__name__ = shim.__qualname__ = name
        return made.guard(shim)  # type: ignore[arg-type]

    def constructor(self, cls: type) -> Optional[Callable[..., Any]]:
        """What text calls for a built-in class whose making takes memory, None for other classes."""
        make = _CLASSES.get(cls)
        return None if make is None else lambda *a, **k: make(self, *a, **k)  # type: ignore[misc]


def _getattr(g: Any, o: Any, name: Any, default: Any = _NONE) -> Any:
    name = g.readable(name)
    if default is _NONE:
        return g.attr(o, name)
    try:
        return g.attr(o, name)
    except AttributeError:
        return default


def _hasattr(g: Any, o: Any, name: Any) -> bool:
    name = g.readable(name)
    try:
        g.attr(o, name)
    except AttributeError:
        return False
    return True


def _type(g: Any, *a: Any, **k: Any) -> Any:
    if len(a) != 1 or k:
        g.refuse("", "type", "type with three arguments")
    return g.out(type(a[0]))


def _vars(g: Any, *a: Any) -> Any:
    if not a:
        g.refuse("", "vars", "vars without an argument")
    if "__dict__" not in g.rules.magic:
        g.refuse("magic", "__dict__", "vars")
    return g.special(*a, "__dict__")


def _dir(g: Any, *a: Any) -> Any:
    if not a:
        g.refuse("", "dir", "dir without an argument")
    if type(a[0]) is View:
        return g.names_of(a[0])
    return [n for n in dir(*a) if g.rules.reads(n)]


def _isinstance(g: Any, o: Any, kinds: Any) -> bool:
    return isinstance(_kinds(o) if made.is_function(o) else o, _kinds(kinds))


def _issubclass(g: Any, o: Any, kinds: Any) -> bool:
    return issubclass(_kinds(o), _kinds(kinds))


def _kinds(k: Any) -> Any:
    if isinstance(k, tuple):
        return tuple(map(_kinds, k))
    return type if made.is_function(k) and k.__name__ == "type" and not made.is_code(k.__code__) else k


def _sum(g: Any, it: Any, start: Any = 0) -> Any:
    if isinstance(start, (int, float, complex)):
        if isinstance(it, (list, tuple)) and all(type(x) in (int, float) for x in it):
            return g.out(sum(g.stream(it), start))
        if type(it) is range:
            return g.out(sum(g.stream(it), start))
    elif isinstance(start, (str, bytes, bytearray)):
        return sum((), start)
    for x in g.lazy(it):
        start = g.add(start, x)
    return start


def _best(f: Callable[..., Any]) -> Callable[..., Any]:
    def best(g: Any, *a: Any, **k: Any) -> Any:
        key = k.get("key")
        if key is not None:
            k["key"] = g.keys(key)
        if len(a) != 1:
            return f(*a, **k) if key else f(*map(g.even, a), **k)
        fed = g.stream(a[0])
        if key is None and not isinstance(fed, (str, bytes, range)):
            fed = g.several(fed) if isinstance(fed, (list, tuple)) else map(g.even, fed)
        return f(fed, **k)

    return best


def _sorted(g: Any, it: Any, **k: Any) -> Any:
    key = k.get("key")
    if key is not None:
        k["key"] = g.keys(key)
    fed = g.feed(it)
    g.budget.charge(8 * (_length(fed) if type(fed) is range else len(fed)))
    if key is None and type(fed) is not range:
        g.several(fed, len(fed).bit_length())
    return sorted(fed, **k)


def _streamed(f: Callable[..., Any]) -> Callable[..., Any]:
    def run(g: Any, it: Any, *a: Any, **k: Any) -> Any:
        return f(g.stream(it), *a, **k)

    return run


def _mapped(f: Callable[..., Any]) -> Callable[..., Any]:
    def run(g: Any, fn: Any, *its: Any, **k: Any) -> Any:
        return f(g.fn(fn), *map(g.lazy, its), **k)

    return run


def _zipped(g: Any, *its: Any, **k: Any) -> Any:
    return zip(*map(g.lazy, its), **k)


def _enumerate(g: Any, it: Any, start: int = 0) -> Any:
    return enumerate(g.lazy(it), start)


def _iter(g: Any, it: Any, *sentinel: Any) -> Any:
    return g.lazy(iter(g.fn(it), *sentinel)) if sentinel else iter(it)


def _print(g: Any, *a: Any, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False) -> None:
    if file is not None:
        g.refuse("", "print", "print with file")
    text = (" " if sep is None else sep).join([g.str_(x) for x in a]) + ("\n" if end is None else end)
    g.budget.charge(len(text))
    if g.out_ is not None:
        g.out_.append(text)
    else:
        print(text, end="")


def _pow(g: Any, base: Any, exp: Any, mod: Any = None) -> Any:
    return g.pow(base, exp, mod)


def _round(g: Any, number: Any, ndigits: Any = _NONE) -> Any:
    if is_decimal(number) and number.is_finite():
        g.budget.bits(4 * max(0, number.adjusted()))
    if ndigits is _NONE:
        return round(number)
    ndigits = whole_of(ndigits)
    if isinstance(ndigits, int) and isinstance(number, int) and ndigits < 0:
        g.budget.bits(min(-ndigits, 1 << 60) * 4)
    return round(number, ndigits)


def _base(f: Callable[[Any], str]) -> Callable[..., Any]:
    def run(g: Any, n: Any) -> str:
        n = whole_of(n)
        g.budget.charge(int.bit_length(n) if isinstance(n, int) else 0)
        return f(n)

    return run


def _next(g: Any, it: Any, *default: Any) -> Any:
    g.tick()
    return g.out(next(it, *default))


def _nested(kind: str) -> Callable[..., Any]:
    def run(g: Any, source: Any, globals: Any = None, locals: Any = None) -> Any:
        from psb.evals.run import nested

        return nested(g, kind, source, globals, locals)

    return run


def _open(g: Any, *a: Any, **k: Any) -> Any:
    return open(*a, **k)


def _property(g: Any, *a: Any, **k: Any) -> Any:
    return property(*map(g.fn, a[:3]), *a[3:], **{n: g.fn(v) if n[0] == "f" else v for n, v in k.items()})


# Classes whose making takes memory.


def _make_str(g: Any, *a: Any, **k: Any) -> Any:
    if len(a) == 1 and not k:
        return g.str_(a[0])
    if a and isinstance(a[0], (bytes, bytearray)):
        g.budget.charge(len(a[0]) * 2)
    return g.out(str(*a, **k))


def _make_int(g: Any, *a: Any, **k: Any) -> Any:
    if a:
        v = a[0]
        if isinstance(v, (str, bytes, bytearray)):
            n = len(v)
            if n > 4_000:
                g.budget.labour(n * n // 64)
            g.budget.charge(n // 2)
        elif is_decimal(v) and v.is_finite():
            g.budget.bits(max(0, v.adjusted()) * 4)
    return g.out(int(*a, **k))


def _make_bytes(cls: Any) -> Callable[..., Any]:
    def make(g: Any, *a: Any, **k: Any) -> Any:
        if len(a) == 1 and not k:
            v = a[0]
            if isinstance(v, int):
                g.budget.charge(max(0, int(v)))
            elif isinstance(v, (bytes, bytearray)):
                g.budget.charge(len(v))
            elif not isinstance(v, str):
                if hasattr(type(v), "__index__"):
                    v = v.__index__()
                    g.budget.charge(max(0, int(v)))
                elif not hasattr(type(v), "__bytes__"):
                    v = g.feed(v)
                a = (v,)
        elif a and isinstance(a[0], str):
            g.budget.charge(len(a[0]) * 4)
        return g.out(cls(*a, **k))

    return make


def _make_box(cls: Any, each: int) -> Callable[..., Any]:
    def make(g: Any, *a: Any, **k: Any) -> Any:
        fed: List[Any] = []
        for v in a:
            v = v if cls is dict and isinstance(v, dict) else g.feed(v)
            g.budget.charge(each * (_length(v) if type(v) is range else len(v)))
            fed.append(v if cls in (list, tuple) or isinstance(v, (dict, set, frozenset)) else g.even(v))
        g.budget.charge(each * len(k))
        return cls(*fed, **k)

    return make


_FUNCTIONS: Dict[str, Callable[..., Any]] = {
    "getattr": _getattr,
    "hasattr": _hasattr,
    "type": _type,
    "vars": _vars,
    "dir": _dir,
    "isinstance": _isinstance,
    "issubclass": _issubclass,
    "sum": _sum,
    "min": _best(min),
    "max": _best(max),
    "sorted": _sorted,
    "any": _streamed(any),
    "all": _streamed(all),
    "map": _mapped(map),
    "filter": _mapped(filter),
    "zip": _zipped,
    "enumerate": _enumerate,
    "iter": _iter,
    "next": _next,
    "print": _print,
    "pow": _pow,
    "round": _round,
    "divmod": lambda g, a, b: g.divmod(a, b),
    "bin": _base(bin),
    "hex": _base(hex),
    "oct": _base(oct),
    "repr": lambda g, o: g.repr_(o),
    "hash": lambda g, o: g.hash_(o),
    "ascii": lambda g, o: g.ascii_(o),
    "format": lambda g, o, spec="": g.form(o, spec),
    "eval": _nested("eval"),
    "exec": _nested("exec"),
    "open": _open,
    "property": _property,
}

_CLASSES: Dict[type, Callable[..., Any]] = {
    str: _make_str,
    int: _make_int,
    bytes: _make_bytes(bytes),
    bytearray: _make_bytes(bytearray),
    list: _make_box(list, 8),
    tuple: _make_box(tuple, 8),
    set: _make_box(set, 64),
    frozenset: _make_box(frozenset, 64),
    dict: _make_box(dict, 100),
    type: _type,
    map: _mapped(map),
    filter: _mapped(filter),
    zip: _zipped,
    enumerate: _enumerate,
}
