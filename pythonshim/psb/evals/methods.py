"""Methods of the built-in types behind a guard: what they take or make is counted first, and texts that name attributes are walked."""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Optional, Tuple

from psb.evals import made
from psb.evals.budget import Budget, size
from psb.evals.modules import is_hidden
from psb.evals.operate import _length, whole_of
from psb.evals.places import is_box

_TEXTS = (str, bytes, bytearray)
_BOXES = (list, dict, set, frozenset)
_FED = frozenset(
    "extend union intersection difference symmetric_difference intersection_update difference_update symmetric_difference_update issubset issuperset "
    "isdisjoint update fromkeys join".split()
)
_PADDED = frozenset("zfill ljust rjust center".split())


class Methods:
    """The half of the guard that gives methods."""

    __slots__ = ()
    budget: Budget

    def method(self, o: Any, name: str) -> Optional[Callable[..., Any]]:
        """The guarded method of a built-in object or, unbound, of its class; None where the object has a method of its own kind."""
        owner = o if isinstance(o, type) else type(o)
        kinds: Tuple[Any, ...] = (*_TEXTS, *_BOXES, tuple, int, float, range)
        base: Any = next((b for b in kinds if issubclass(owner, b)), None)
        if base is None or not hasattr(base, name):
            # deque, Counter's kin and the like: what they go through is fed.
            return self._foreign(o, name) if name in _FED and owner.__module__ == "collections" and not isinstance(o, type) else None
        if isinstance(o, type):
            if name in ("fromkeys", "maketrans", "fromhex", "from_bytes"):
                return self._bound(o, name, base)
            if made.is_class(o):
                return None

            def unbound(self_: Any, /, *a: Any, **k: Any) -> Any:
                if isinstance(self_, type):
                    raise TypeError(f"descriptor '{name}' requires a '{base.__name__}' object but received a 'type'")
                return self._run(base, self_, name, a, k)

            return made.guard(unbound)  # type: ignore[arg-type]
        return self._bound(o, name, base)

    def _bound(self, o: Any, name: str, base: type) -> Callable[..., Any]:
        def bound(*a: Any, **k: Any) -> Any:
            return self._run(base, o, name, a, k)

        return made.guard(bound)  # type: ignore[arg-type]

    def _foreign(self, o: Any, name: str) -> Callable[..., Any]:
        def bound(*a: Any, **k: Any) -> Any:
            return getattr(o, name)(*map(self._fed, a), **k)

        return made.guard(bound)  # type: ignore[arg-type]

    def _fed(self, a: Any) -> Any:
        r = self.feed(a)  # type: ignore[attr-defined]
        self.budget.charge(16 * len(r))
        return r

    def _run(self, base: Any, box: Any, name: str, a: Tuple[Any, ...], k: Dict[str, Any]) -> Any:
        o: Any = box
        guard: Any = self
        if name not in _FED and name not in ("format", "format_map", "count", "index", "append", "insert", "add", "setdefault", "sort"):
            a = tuple(map(whole_of, a))
            k = {n: whole_of(v) for n, v in k.items()}
        if not isinstance(o, base) and not isinstance(o, type):
            raise TypeError(f"descriptor '{name}' requires a '{base.__name__}' object but received a '{type(o).__name__}'")
        if name in ("count", "index"):
            if base is range and not (a and isinstance(a[0], int)):
                self.budget.turn(_length(box))
            elif a and base in (list, tuple):
                guard.sought(a[0], box)
            return getattr(o, name)(*a, **k)
        if base is str and name == "format":
            return self.format_text(o, a, k)  # type: ignore[attr-defined]
        if base is str and name == "format_map":
            return self.format_text(o, (), *a, **k)  # type: ignore[attr-defined]
        if name in _FED:
            keep = base is dict and name == "update"
            first = a[:1] if name == "fromkeys" else a
            a = tuple(x if keep and isinstance(x, Mapping) else self._fed(x) for x in first) + a[len(first) :]
            for x in a if keep else ():
                self.budget.charge(100 * len(x))
            for x in a if base in (dict, set, frozenset) else ():
                if not isinstance(x, (dict, set, frozenset)):
                    guard.even(x)
            if name == "join" and a:
                self.budget.charge(sum(map(size, a[0])) + size(o) * len(a[0]))
        elif isinstance(o, _TEXTS):
            self.budget.charge(_made(o, name, a, k))
        elif name == "sort":
            key = k.get("key")
            k = {n: guard.keys(v) if n == "key" and v is not None else v for n, v in k.items()}
            self.budget.turn(len(box))
            if key is None:
                guard.several(box, len(box).bit_length())
        elif name == "to_bytes" and isinstance(o, int):
            length = a[0] if a else k.get("length", 1)
            self.budget.charge(max(0, length) if isinstance(length, int) else 0)
        elif name in ("append", "insert", "add", "setdefault"):
            self.budget.charge(8 if base is list else 80)
            if base is not list and a:
                guard.even(a[0])
        elif not isinstance(o, type):
            self.budget.charge(size(o))
        return self.out(getattr(o, name)(*a, **k))  # type: ignore[attr-defined]

    def special(self, o: Any, name: str) -> Any:
        """One of Python's own names of o, which the profile grants."""
        guard: Any = self
        op: Any = _OPERATORS.get(name)
        own = made.is_instance(o) and not is_box(o)  # a dataclass compares by what it holds
        if op is not None and not own:
            if isinstance(o, type):
                return _free(guard, op)
            swapped = name.startswith("__r") and name not in ("__rshift__",)
            inplace = name.startswith("__i") and name not in ("__invert__",)

            def operate(b: Any) -> Any:
                if inplace:
                    return guard.inplace(op, o, b)
                return getattr(guard, op)(b, o) if swapped else getattr(guard, op)(o, b)

            return made.guard(operate)  # type: ignore[arg-type]
        text: Any = _TEXT_OF.get(name)
        if text is not None and not own:
            if isinstance(o, type):
                return _free(guard, text)

            def say(*a: Any) -> Any:
                return getattr(guard, text)(o, *a)

            return made.guard(say)  # type: ignore[arg-type]
        if is_hidden(o):
            guard.refuse("", name, f"the inside of a {type(o).__name__}")
        if name == "__dict__":
            if isinstance(o, type) or callable(o):
                guard.refuse("", name, "the __dict__ of a class or a function")
            return dict(o.__dict__)
        if name == "__init__" and not isinstance(o, type) and guard.constructor(type(o)) is not None:
            guard.refuse("", name, f"{name} of a {type(o).__name__}")
        if name in ("__new__", "__init__") and isinstance(o, type) and not made.is_class(o):
            if guard.constructor(o) is not None or issubclass(o, type):
                guard.refuse("", name, f"{name} of {o.__name__}")
            guard.judge(o)
        if name == "__call__":
            return guard.fn(o)
        return guard.out(getattr(o, name))


def _free(guard: Any, name: str) -> Any:
    # A bound method would carry the guard as its __self__.
    def free(*a: Any) -> Any:
        return getattr(guard, name)(*a)

    return made.guard(free)  # type: ignore[arg-type]


def _made(o: Any, name: str, a: Tuple[Any, ...], k: Mapping[str, Any]) -> int:
    """Bytes that a method of a text takes at most, or nearly."""
    n: int = len(o)
    if name in _PADDED:
        return max(n, _number(a[0]) if a else 0) * 4
    if name == "expandtabs":
        return n + int(o.count(_like(o, "\t"))) * max(0, _number(a[0] if a else k.get("tabsize", 8)))
    if name == "replace" and len(a) >= 2 and isinstance(a[0], _TEXTS) and isinstance(a[1], _TEXTS) and (type(a[0]) is str) == (type(o) is str):
        times: int = o.count(a[0])
        limit = _number(a[2] if len(a) > 2 else k.get("count", -1))
        times = times if limit < 0 else min(times, limit)
        return size(o) + times * max(0, len(a[1]) - len(a[0])) * 4
    if name == "translate" and isinstance(o, str) and a and isinstance(a[0], dict):
        return n * 4 * max([1, *(len(v) for v in a[0].values() if isinstance(v, str))])
    if name in ("split", "rsplit", "splitlines"):
        sep = a[0] if a else k.get("sep")
        parts: int = o.count(sep) + 1 if isinstance(sep, _TEXTS) and len(sep) and isinstance(sep, str) == isinstance(o, str) else n // 2 + 1
        limit = _number(a[1] if len(a) > 1 else k.get("maxsplit", -1)) if name != "splitlines" else -1
        return n + 58 * (parts if limit < 0 else min(parts, limit + 1))
    if name in ("extend", "append", "insert"):
        return 16
    return size(o) + n


def _number(v: Any) -> int:
    return int(v) if isinstance(v, int) else 0


def _like(o: Any, text: str) -> Any:
    return text if isinstance(o, str) else text.encode()


_NAMES = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "floordiv": "floordiv",
    "mod": "mod",
    "pow": "pow",
    "lshift": "lshift",
    "rshift": "rshift",
    "or": "bit_or",
    "and": "bit_and",
    "xor": "bit_xor",
    "matmul": "matmul",
}
_OPERATORS: Dict[str, str] = {f"__{p}{n}__": g for n, g in _NAMES.items() for p in ("", "r", "i")}
_OPERATORS.update({"__getitem__": "item", "__concat__": "add", "__divmod__": "divmod", "__contains__": "hay_in", "__setitem__": "set_item"})
_OPERATORS.update({f"__{n}__": n for n in ("eq", "ne", "lt", "le", "gt", "ge")})
_TEXT_OF: Dict[str, str] = {"__str__": "str_", "__repr__": "repr_", "__format__": "form", "__hash__": "hash_"}
