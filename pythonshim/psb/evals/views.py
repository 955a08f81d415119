"""Imports of text, and what a granted module gives to it."""

from __future__ import annotations

import functools
import importlib
import sys
import types
from typing import Any, Callable, Dict, List, Tuple

from psb.evals import made, text
from psb.evals.budget import Budget
from psb.evals.modules import DOORS, ONLY, View, is_hidden
from psb.evals.operate import whole_of
from psb.evals.rules import Rules
from psb.evals.words import CLOSED, dunder


class Views:
    """The half of the guard that gives modules."""

    __slots__ = ()
    budget: Budget
    rules: Rules
    views: Dict[int, Tuple[View, types.ModuleType, bool]]

    def view(self, module: types.ModuleType, name: str, whole: bool = True) -> View:
        """The view of module, where the profile grants it; a view that is not whole gives granted modules inside it only."""
        full = module.__name__
        if whole and not self.rules.module(full):
            self.refuse("import", full, f"{name}, the module {full},")  # type: ignore[attr-defined]
        for v, m, w in self.views.values():
            if m is module and (w or not whole):
                return v
        v = View()
        self.views[id(v)] = (v, module, whole)
        return v

    def look(self, view: View, name: str) -> Any:
        """One name of a module."""
        found = self.views.get(id(view))
        if found is None:
            self.refuse("", name, "a module of another evaluation")  # type: ignore[attr-defined]
        assert found is not None
        _, module, whole = found
        full = module.__name__
        inner = sys.modules.get(f"{full}.{name}")
        if inner is not None and self.rules.module(f"{full}.{name}"):
            return self.view(inner, name)
        only = ONLY.get(full)
        if name in CLOSED or name in DOORS or (only is not None and name not in only):
            self.refuse("", name, f"{full}.{name}")  # type: ignore[attr-defined]
        if not whole:
            self.refuse("import", full, f"{full}.{name}")  # type: ignore[attr-defined]
        if dunder(name) and name not in ("__name__", "__doc__", "__version__"):
            self.refuse("", name, f"{full}.{name}")  # type: ignore[attr-defined]
        if not (name in self.rules.call or self.rules.reads(name)):
            self.refuse("call", name, f"{full}.{name}")  # type: ignore[attr-defined]
        value = getattr(module, name)
        if is_hidden(value):
            self.refuse("", name, f"{full}.{name}, a {type(value).__name__},")  # type: ignore[attr-defined]
        make = _SHIMS.get((full, name))
        if make is not None:
            value = _wrap(make, self, value, name)
        elif full in ("itertools", "operator"):
            raw, value = value, _wrap(_plain, self, value, name)
            if name == "chain":
                value.from_iterable = _wrap(_plain, self, raw.from_iterable, "from_iterable")
        else:
            value = self.out(value)  # type: ignore[attr-defined]
        if type(value) in (list, dict, set, bytearray):
            value = value.copy()  # the module's own stays as it is
        if callable(value):
            self.grant(value)  # type: ignore[attr-defined]
        return value

    def names_of(self, view: View) -> List[str]:
        """What dir() of a view says."""
        module = self.views[id(view)][1]
        only = ONLY.get(module.__name__)
        return sorted(n for n in dir(module) if (n in self.rules.call or self.rules.reads(n)) and (only is None or n in only) and n not in DOORS)

    def imp(self, name: str, whole: bool) -> View:
        """import name; whole: as NAME, so the module itself, else the first of the packages."""
        if not self.rules.module(name):
            self.refuse("import", name, f"import of {name}")  # type: ignore[attr-defined]
        module = importlib.import_module(name)
        top = name.split(".")[0]
        if whole or top == name:
            return self.view(module, name)
        return self.view(sys.modules[top], top, whole=self.rules.module(top))

    def impfrom(self, module: str, name: str) -> Any:
        """from module import name."""
        view = self.imp(module, True)
        full = f"{module}.{name}"
        if self.rules.module(full) and not hasattr(sys.modules[module], name):
            return self.imp(full, True)
        try:
            return self.look(view, name)
        except AttributeError:
            raise ImportError(f"cannot import name {name!r} from {module!r}") from None


def _wrap(make: Callable[..., Any], guard: Any, value: Any, name: str) -> Any:
    def shim(*a: Any, **k: Any) -> Any:
        return make(guard, value, *a, **k)

    shim.__name__ = shim.__qualname__ = name
    return made.guard(shim)  # type: ignore[arg-type]


def _plain(g: Any, f: Any, *a: Any, **k: Any) -> Any:
    """A function of C that calls its arguments and goes through them."""
    return f(*[_argument(g, x) for x in a], **{n: _argument(g, x) for n, x in k.items()})


def _argument(g: Any, x: Any) -> Any:
    if type(x).__module__ == "itertools" or type(x) in (range, map, filter, zip, enumerate, types.GeneratorType):
        return g.lazy(x)
    return g.fn(x) if callable(x) and not hasattr(type(x), "__next__") else x


def _count(g: Any, f: Any, *a: Any, **k: Any) -> Any:
    return g.lazy(f(*a, **k))


def _product(g: Any, f: Any, *a: Any, repeat: int = 1) -> Any:
    pools = [g.feed(x) for x in a]
    repeat = whole_of(repeat)
    g.budget.charge(8 * max(1, len(pools)) * max(0, repeat))
    return f(*pools, repeat=repeat)


def _held(g: Any, f: Any, it: Any, *a: Any, **k: Any) -> Any:
    fed = g.feed(it)
    g.budget.charge(24 * len(fed))
    return f(fed, *a, **k)


def _attrgetter(g: Any, f: Any, *names: Any) -> Any:
    paths = [[g.readable(part) for part in str.__str__(n).split(".")] for n in names]
    if not paths:
        raise TypeError("attrgetter expected 1 argument, got 0")

    def get(o: Any) -> Any:
        found = []
        for path in paths:
            v = o
            for part in path:
                v = g.attr(v, part)
            found.append(v)
        return found[0] if len(found) == 1 else tuple(found)

    return made.guard(get)  # type: ignore[arg-type]


def _methodcaller(g: Any, f: Any, name: Any, *a: Any, **k: Any) -> Any:
    name = g.readable(name)

    def run(o: Any) -> Any:
        return g.call(g.attr(o, name), *a, **k)

    return made.guard(run)  # type: ignore[arg-type]


def _itemgetter(g: Any, f: Any, *keys: Any) -> Any:
    if not keys:
        raise TypeError("itemgetter expected 1 argument, got 0")

    def get(o: Any) -> Any:
        return g.item(o, keys[0]) if len(keys) == 1 else tuple([g.item(o, key) for key in keys])

    return made.guard(get)  # type: ignore[arg-type]


def _operator(name: str) -> Callable[..., Any]:
    return lambda g, f, *a: getattr(g, name)(*a)


def _inplace(name: str) -> Callable[..., Any]:
    return lambda g, f, a, b: g.inplace(name, a, b)


def _reduce(g: Any, f: Any, function: Any, it: Any, *initial: Any) -> Any:
    function = g.fn(function)
    return functools.reduce(lambda a, b: g.call(function, a, b), g.lazy(it), *initial)


def _partial(g: Any, f: Any, function: Any, *a: Any, **k: Any) -> Any:
    function = g.fn(function)

    def run(*more: Any, **names: Any) -> Any:
        return g.call(function, *a, *more, **{**k, **names})

    return made.guard(run)  # type: ignore[arg-type]


def _cached(g: Any, f: Any, *a: Any, **k: Any) -> Any:
    if len(a) == 1 and callable(a[0]):
        g.judge(a[0])
        return g.given(f(g.fn(a[0]), **k))
    made_ = f(*a, **k)

    def decorate(function: Any) -> Any:
        return g.given(made_(g.fn(function)))

    return made.guard(decorate)  # type: ignore[arg-type]


def _dataclass(g: Any, f: Any, cls: Any = None, **k: Any) -> Any:
    def decorate(c: Any) -> Any:
        if not made.is_class(c):
            g.refuse("", "dataclass", "dataclass on a class that the text did not make")
        c = f(c, **k)
        made.add_class(c)
        for v in vars(c).values():
            if type(v) is types.FunctionType:
                g.grant(v)
        return c

    return made.guard(decorate) if cls is None else decorate(cls)  # type: ignore[arg-type]


def _factorial(g: Any, f: Any, n: Any) -> Any:
    n = whole_of(n)
    if isinstance(n, int) and n > 1:
        g.budget.bits(n * int.bit_length(n))
        g.budget.labour(n * n // 8)
    return f(n)


def _comb(g: Any, f: Any, n: Any, *k: Any) -> Any:
    n, k = whole_of(n), tuple(map(whole_of, k))
    if isinstance(n, int):
        turns = int(k[0]) if k and isinstance(k[0], int) else n
        turns = max(0, min(turns, n))
        g.budget.bits(turns * int.bit_length(n))
        g.budget.labour(turns * turns // 8)
    return f(n, *k)


def _prod(g: Any, f: Any, it: Any, start: Any = 1) -> Any:
    for x in g.lazy(it):
        start = g.mul(start, x)
    return start


def _dumps(g: Any, f: Any, o: Any, **k: Any) -> Any:
    g.weigh(o)
    return g.out(f(o, **{n: g.fn(v) if n == "default" else v for n, v in k.items() if n != "cls"}))


def _loads(g: Any, f: Any, s: Any, **k: Any) -> Any:
    g.budget.charge(8 * len(s))
    return g.out(f(s, **{n: g.fn(v) for n, v in k.items() if n != "cls"}))


def _literal(g: Any, f: Any, s: Any) -> Any:
    text.limit(str.__str__(s), "")
    return f(str.__str__(s))


class _Formatter:
    __slots__ = ("format", "vformat", "get_field")

    def __init__(self, g: Any) -> None:
        self.format = g.given(_wrap(lambda g, f, t, *a, **k: g.format_text(t, a, k), g, None, "format"))
        self.vformat = g.given(_wrap(lambda g, f, t, a, k: g.format_text(t, a, k), g, None, "vformat"))
        self.get_field = g.given(_wrap(lambda g, f, name, a, k: g.field(name, a, k, [0]), g, None, "get_field"))


def _formatter(g: Any, f: Any) -> Any:
    return _Formatter(g)


def _namedtuple(g: Any, f: Any, *a: Any, **k: Any) -> Any:
    cls = f(*a, **k)
    g.budget.charge(4_000)
    g.grant(cls)
    return cls


def _choices(g: Any, f: Any, *a: Any, k: Any = 1, **more: Any) -> Any:
    k = whole_of(k)
    g.budget.charge(8 * max(0, k) if isinstance(k, int) else 0)
    g.budget.turn(max(0, k) if isinstance(k, int) else 0)
    return f(*a, k=k, **more)


_SHIMS: Dict[Tuple[str, str], Callable[..., Any]] = {
    ("itertools", "count"): _count,
    ("itertools", "cycle"): lambda g, f, it: g.lazy(f(g.lazy(it))),
    ("itertools", "repeat"): _count,
    ("itertools", "product"): _product,
    ("itertools", "permutations"): _held,
    ("itertools", "combinations"): _held,
    ("itertools", "combinations_with_replacement"): _held,
    ("operator", "attrgetter"): _attrgetter,
    ("operator", "methodcaller"): _methodcaller,
    ("operator", "itemgetter"): _itemgetter,
    ("operator", "getitem"): _operator("item"),
    ("operator", "setitem"): _operator("set_item"),
    ("operator", "contains"): _operator("hay_in"),
    ("operator", "concat"): _operator("add"),
    ("operator", "iconcat"): _inplace("add"),
    ("functools", "reduce"): _reduce,
    ("functools", "partial"): _partial,
    ("functools", "lru_cache"): _cached,
    ("functools", "cache"): _cached,
    ("functools", "cmp_to_key"): lambda g, f, function: g.given(f(g.fn(function))),
    ("dataclasses", "dataclass"): _dataclass,
    ("math", "factorial"): _factorial,
    ("math", "comb"): _comb,
    ("math", "perm"): _comb,
    ("math", "prod"): _prod,
    ("json", "dumps"): _dumps,
    ("json", "loads"): _loads,
    ("ast", "literal_eval"): _literal,
    ("string", "Formatter"): _formatter,
    ("collections", "namedtuple"): _namedtuple,
    ("random", "choices"): _choices,
}
_GUARDED = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floordiv", "mod": "mod", "pow": "pow",
    "lshift": "lshift", "rshift": "rshift", "or_": "bit_or", "and_": "bit_and", "xor": "bit_xor", "matmul": "matmul",
}  # fmt: skip
for _name, _guard in _GUARDED.items():
    _SHIMS[("operator", _name)] = _operator(_guard)
    _SHIMS[("operator", "i" + _name.rstrip("_"))] = _inplace(_guard)
