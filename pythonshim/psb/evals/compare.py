"""Comparing and hashing for text: C goes through all that a value holds, and nothing can end it, so it is counted before."""

from __future__ import annotations

import types
from typing import Any, Callable, Iterable, Optional, Tuple

from psb.evals import made
from psb.evals.budget import Budget
from psb.evals.places import is_box, places

_PLAIN = frozenset((int, float, str, bool, type(None), bytes, complex, range))
_HASHED = frozenset("get pop setdefault add discard remove __getitem__ __delitem__ __contains__ move_to_end".split())
_SOUGHT = frozenset("remove count index __contains__".split())
_KEYED = (dict, set, frozenset)
_BOUND = (types.BuiltinFunctionType, types.MethodWrapperType)
_UNBOUND = (types.MethodDescriptorType, types.WrapperDescriptorType)
# Modules whose functions and classes compare or hash what they are given; of some functions only the second argument is new to them.
_COMPARING = frozenset("_heapq heapq _bisect bisect _collections collections _operator operator itertools statistics enum _functools functools".split())
_SECOND = ("heappush", "heapreplace", "bisect", "insort")


class Compare:
    """The part of the guard that comparisons and keys go through."""

    __slots__ = ()
    budget: Budget
    fn: Callable[[Any], Any]

    def eq(self, a: Any, b: Any) -> Any:
        if type(a) not in _PLAIN and type(b) not in _PLAIN:
            self.pair(a, b)
        return a == b

    def ne(self, a: Any, b: Any) -> Any:
        if type(a) not in _PLAIN and type(b) not in _PLAIN:
            self.pair(a, b)
        return a != b

    def lt(self, a: Any, b: Any) -> Any:
        if type(a) not in _PLAIN and type(b) not in _PLAIN:
            self.pair(a, b)
        return a < b

    def le(self, a: Any, b: Any) -> Any:
        if type(a) not in _PLAIN and type(b) not in _PLAIN:
            self.pair(a, b)
        return a <= b

    def gt(self, a: Any, b: Any) -> Any:
        if type(a) not in _PLAIN and type(b) not in _PLAIN:
            self.pair(a, b)
        return a > b

    def ge(self, a: Any, b: Any) -> Any:
        if type(a) not in _PLAIN and type(b) not in _PLAIN:
            self.pair(a, b)
        return a >= b

    def hash_(self, v: Any) -> int:
        return hash(self.even(v))

    def pair(self, a: Any, b: Any, times: int = 1) -> None:
        """Counts times comparisons of a and b: none goes through more than the smaller of them."""
        if is_box(a) and is_box(b):
            steps = places(a)
            if steps > 64:
                steps = min(steps, places(b))
            self.budget.work(steps * times)

    def even(self, v: Any) -> Any:
        """v, which C is about to compare or to hash."""
        if type(v) not in _PLAIN and is_box(v):
            self.budget.work(places(v))
        return v

    def several(self, values: Iterable[Any], times: int = 1) -> Any:
        """values, which C is about to compare with each other, each up to times."""
        if isinstance(values, (list, tuple)):
            self.budget.work(places(values) * times)
        return values

    def keys(self, f: Any) -> Callable[[Any], Any]:
        """The function f that gives the keys of a sort."""
        give: Callable[[Any], Any] = self.fn(f)
        return lambda v: self.even(give(v))

    def sought(self, x: Any, box: Any) -> None:
        """Counts a search for x in box."""
        if type(x) in _PLAIN or not is_box(x):
            return
        if isinstance(box, _KEYED):
            self.budget.work(places(x))
        elif is_box(box):
            self.pair(x, box, max(1, len(box)) if hasattr(type(box), "__len__") else 1)

    def asked(self, f: Any, a: Tuple[Any, ...]) -> None:
        """Counts what f, which is not the text's, will compare or hash of its arguments."""
        kind: Any = type(f)
        name: Any = getattr(f, "__name__", "")
        owner: Any = None
        if kind in _BOUND:
            owner = f.__self__
        elif kind in _UNBOUND and a:
            owner, a = a[0], a[1:]
        if owner is not None and not isinstance(owner, types.ModuleType):
            if isinstance(owner, _KEYED):
                if name in _HASHED:
                    self.even(a[0] if a else None)
            elif name in _SOUGHT and a:
                self.sought(a[0], owner)
            return
        if kind.__name__ == "_lru_cache_wrapper" or getattr(f, "__module__", None) in _COMPARING or (isinstance(f, type) and kind is not type):
            for x in a[1:2] if isinstance(name, str) and name.startswith(_SECOND) else a:
                self.even(x)

    def asking(self, f: Any) -> Optional[Callable[..., Any]]:
        """f for the hands of C, where its arguments have to be looked at at each call; None where not."""
        name = getattr(f, "__name__", None)
        if not (name in _HASHED or name in _SOUGHT) or type(f) not in (*_BOUND, *_UNBOUND):
            return None

        def run(*a: Any) -> Any:
            self.asked(f, a)
            return f(*a)

        return made.guard(run)  # type: ignore[arg-type]
