"""Operators of text: what they would take is counted before they run."""

from __future__ import annotations

import operator
import re
import sys

from typing import Any, Callable, Dict, Optional, Tuple

from psb.evals.budget import Budget, size

_SMALL = 1 << 256
_SEQUENCES = (str, bytes, bytearray, list, tuple)
_SETS = (set, frozenset, dict)
_REPEATED = ("array", "deque", "memoryview")


class Operators:
    """The half of the guard that operators go through. `budget` is the evaluation's."""

    __slots__ = ()
    budget: Budget
    feed: Callable[[Any], Any]
    item: Callable[[Any, Any], Any]
    percent: Callable[[Any, Any], None]
    even: Callable[[Any], Any]
    sought: Callable[[Any, Any], None]

    def add(self, a: Any, b: Any) -> Any:
        ta, tb = type(a), type(b)
        if (ta is int or ta is float) and (tb is int or tb is float):
            r = a + b
            if ta is int and tb is int and not -_SMALL < r < _SMALL:
                self.budget.bits(r.bit_length())
            return r
        if isinstance(a, _SEQUENCES) and isinstance(b, _SEQUENCES):
            self.budget.charge(size(a) + size(b))
        elif isinstance(a, int) and isinstance(b, int):
            self.budget.bits(max(int.bit_length(a), int.bit_length(b)) + 1)
        return a + b

    def sub(self, a: Any, b: Any) -> Any:
        if type(a) is int and type(b) is int:
            r = a - b
            if not -_SMALL < r < _SMALL:
                self.budget.bits(r.bit_length())
            return r
        if isinstance(a, _SETS):
            self.budget.charge(size(a))
        return a - b

    def mul(self, a: Any, b: Any) -> Any:
        ta, tb = type(a), type(b)
        if ta is float or tb is float or (ta is int and tb is int and -_SMALL < a < _SMALL and -_SMALL < b < _SMALL):
            return a * b
        a, b = _counted(a, b), _counted(b, a)
        self._product(a, b)
        return a * b

    def _product(self, a: Any, b: Any) -> None:
        if isinstance(a, int):
            if isinstance(b, int):
                n = int.bit_length(a) + int.bit_length(b)
                if n > 512:
                    self.budget.bits(n)
                return
            a, b = b, a
        times = _whole(b)
        if times is None or times <= 0:
            if isinstance(a, _SEQUENCES) and times is None and _indexable(b):
                self.budget.charge(size(a) * max(0, operator.index(b)))
            return
        if isinstance(a, _SEQUENCES) or type(a).__name__ in _REPEATED:
            self.budget.charge(max(size(a) - 56, 1) * times)
        elif is_fraction(a):
            self._product(a.numerator, b)

    def pow(self, a: Any, b: Any, m: Any = None) -> Any:
        if m is not None:
            e, w = _whole(b), _whole(m)
            if e is not None and w is not None:
                self.budget.labour(abs(e).bit_length() * (abs(w).bit_length() // 30 + 1) ** 2)
                base = _whole(a)
                if base is not None:
                    self.budget.labour((abs(base).bit_length() // 30 + 1) * (abs(w).bit_length() // 30 + 1))
            return pow(a, b, m)
        self._power(a, b)
        return a**b

    def _power(self, a: Any, b: Any) -> None:
        e = _whole(b)
        if e is None:
            return
        base = _whole(a)
        if base is None and is_fraction(a):
            base, e = max(abs(a.numerator), a.denominator), abs(e)
        if base is not None and e > 1 and abs(base) > 1:
            n = int.bit_length(base) * e
            if n > 512:
                self.budget.bits(n)

    def lshift(self, a: Any, b: Any) -> Any:
        x, n = _whole(a), _whole(b)
        if x and n is not None and n > 0:
            self.budget.bits(abs(x).bit_length() + n)
        return a << b

    def mod(self, a: Any, b: Any) -> Any:
        if isinstance(a, int):
            self._division(a, b)
        elif isinstance(a, (str, bytes, bytearray)):
            self.percent(a, b)
        return a % b

    def floordiv(self, a: Any, b: Any) -> Any:
        self._division(a, b)
        return a // b

    def divmod(self, a: Any, b: Any) -> Any:
        self._division(a, b)
        return divmod(a, b)

    def _division(self, a: Any, b: Any) -> None:
        x, y = _whole(a), _whole(b)
        if x is not None and y is not None and not -_SMALL < x < _SMALL:
            n, d = abs(x).bit_length() // 30 + 1, abs(y).bit_length() // 30 + 1
            if n > d:
                self.budget.labour(d * (n - d))
            self.budget.bits(abs(x).bit_length())

    def _joined(self, a: Any, b: Any) -> None:
        for r in (a, b):
            if type(r) is range:
                self.budget.turn(_length(r))
        if isinstance(a, _SETS):
            self.budget.charge(size(a) + (size(b) if isinstance(b, _SETS) else 0))
        elif isinstance(a, int) and isinstance(b, int):
            n = max(int.bit_length(a), int.bit_length(b))
            if n > 512:
                self.budget.bits(n)

    def bit_or(self, a: Any, b: Any) -> Any:
        self._joined(a, b)
        return a | b

    def bit_and(self, a: Any, b: Any) -> Any:
        self._joined(a, b)
        return a & b

    def bit_xor(self, a: Any, b: Any) -> Any:
        self._joined(a, b)
        return a ^ b

    def div(self, a: Any, b: Any) -> Any:
        return a / b

    def rshift(self, a: Any, b: Any) -> Any:
        if type(a) is int and a > _SMALL:
            self.budget.bits(int.bit_length(a))
        return a >> b

    def matmul(self, a: Any, b: Any) -> Any:
        return a @ b

    def contains(self, x: Any, box: Any) -> bool:
        """x in box."""
        if type(box) is str or type(x) is str:
            return x in self.hay(box, x)
        box = self.hay(box, x)
        self.sought(x, box)
        return x in box

    def hay(self, box: Any, x: Any = None) -> Any:
        """box, safe to be looked through."""
        if type(box) is range:
            if type(x) is not int and type(x) is not bool:
                self.budget.turn(_length(box))
            return box
        return box if isinstance(box, (*_SEQUENCES, *_SETS)) or hasattr(type(box), "__contains__") else self.feed(box)

    def inplace(self, op: str, a: Any, b: Any) -> Any:
        """a OP= b for a name or an item."""
        if op == "add" and isinstance(a, (list, bytearray)):
            b = self.feed(b) if isinstance(a, list) else b
            self.budget.charge(_growth(b))
            return operator.iadd(a, b)
        if op == "mul" and isinstance(a, (list, bytearray)):
            b = _counted(b, a)
            self._product(a, b)
            return operator.imul(a, b)
        if op == "bit_or" and isinstance(a, _SETS):
            self._joined(a, b)
            return operator.ior(a, b if isinstance(b, _SETS) else self.even(self.feed(b)))
        if isinstance(a, _PLAIN) and isinstance(b, _PLAIN):
            return getattr(self, op)(a, b)
        # What counts is done by the plain operator's guard; the operation itself is the object's own in-place one.
        count = _COUNTS.get(op)
        if count is not None:
            count(self, a, b)
        return _INPLACE[op](a, b)

    def held(self, box: Any, key: Any) -> Tuple[Any, Any, Any]:
        """box[key] together with both, so that each is evaluated once."""
        return box, key, self.item(box, key)

    def put(self, value: Any, box: Any, key: Any) -> None:
        """box[key] = value."""
        if isinstance(key, slice) and isinstance(box, (list, bytearray)):
            if isinstance(box, list):
                value = self.feed(value)
            self.budget.charge(_growth(value))
        elif isinstance(box, dict):
            self.budget.charge(96)
        if type(key) is not int and type(key) is not str:
            self.even(key)
        box[key] = value

    def augment(self, op: str, place: Tuple[Any, Any, Any], b: Any) -> None:
        """The store of box[key] OP= b."""
        box, key, a = place
        self.put(self.inplace(op, a, b), box, key)

    def grow(self, box: Any) -> Any:
        """box, one entry of which is about to be set."""
        if isinstance(box, dict):
            self.budget.charge(96)
        return box

    def shown(self, box: Any) -> Any:
        """A list, tuple, set or dict as it was written down."""
        self.budget.charge(size(box))
        return box


_PLAIN = (int, float, complex, str, bytes, tuple, frozenset)
_INPLACE: Dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.iadd,
    "sub": operator.isub,
    "mul": operator.imul,
    "div": operator.itruediv,
    "floordiv": operator.ifloordiv,
    "mod": operator.imod,
    "pow": operator.ipow,
    "lshift": operator.ilshift,
    "rshift": operator.irshift,
    "bit_or": operator.ior,
    "bit_and": operator.iand,
    "bit_xor": operator.ixor,
    "matmul": operator.imatmul,
}
_COUNTS: Dict[str, Callable[[Any, Any, Any], None]] = {
    "mul": Operators._product,
    "pow": Operators._power,
    "floordiv": Operators._division,
    "bit_or": Operators._joined,
}


def is_fraction(v: Any) -> bool:
    """Whether v is a Fraction of the library itself; a class of the text may bear the name."""
    known = sys.modules.get("fractions")
    return known is not None and type(v) is known.Fraction


def is_decimal(v: Any) -> bool:
    """Whether v is a Decimal of the library itself."""
    known = sys.modules.get("decimal")
    return known is not None and type(v) is known.Decimal


def exponent(text: str) -> int:
    """The power of ten that a number in text is written with, 0 without one."""
    found = re.search(r"[eE]\+?([\d_]{1,18})", text)
    return int(found[1].replace("_", "") or 0) if found else 0


def whole_of(v: Any) -> Any:
    """v as a whole number where it can say one: asked once, so that it cannot say another the second time."""
    return operator.index(v) if not isinstance(v, (int, str, bytes, float)) and _indexable(v) else v


def _counted(n: Any, other: Any) -> Any:
    return whole_of(n) if isinstance(other, _SEQUENCES) or type(other).__name__ in _REPEATED else n


def _whole(v: Any) -> Optional[int]:
    return v if type(v) is int else int.__int__(v) if isinstance(v, int) else None


def _indexable(v: Any) -> bool:
    return hasattr(type(v), "__index__")


def _length(r: range) -> int:
    # len() of a range fails above sys.maxsize.
    return max(0, (r.stop - r.start + r.step - (1 if r.step > 0 else -1)) // r.step)


def _growth(b: Any) -> int:
    if isinstance(b, (str, bytes, bytearray)):
        return len(b)
    if isinstance(b, (list, tuple, set, frozenset, dict)):
        return 8 * len(b)
    return 64
