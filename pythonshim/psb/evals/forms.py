"""Texts made from values: format strings are walked field by field, widths and precisions are counted before they are used."""

from __future__ import annotations

import re
from typing import Any, Callable, List, Mapping, Sequence, Tuple

import _string  # type: ignore[import]

from psb.evals.budget import Budget, size
from psb.evals.operate import is_decimal
from psb.evals.places import places

_DIGITS = re.compile(r"\d+")
_PERCENT = re.compile(r"%(?:\([^)]*\))?[-+ #0]*(\*|\d+)?(?:\.(\*|\d+)?)?[hlL]?.", re.S)
_ATOMS = (int, float, complex, bool, type(None))
_NESTING = 100


class Forms:
    """The half of the guard that makes texts."""

    __slots__ = ()
    budget: Budget
    read: Callable[[Any, Any], Any]
    item: Callable[[Any, Any], Any]

    def fmt(self, value: Any, conversion: int = -1, spec: Any = "") -> str:
        """One field: conversion is -1 or the code of "s", "r" or "a"."""
        if conversion == 115:
            value = self.str_(value)
        elif conversion == 114:
            value = self.repr_(value)
        elif conversion == 97:
            value = self.ascii_(value)
        return self.form(value, spec)

    def form(self, value: Any, spec: Any = "") -> str:
        """format(value, spec)."""
        if not isinstance(spec, str):
            return format(value, spec)
        if spec:
            for n in _DIGITS.findall(spec):
                self.budget.charge(_number(n))
            if is_decimal(value) and value.is_finite():
                self.budget.charge(abs(value.adjusted()))
        if type(value) is not int and type(value) is not str:
            self.weigh(value)
        elif type(value) is int:
            self._digits(value)
        r = format(value, spec)
        self.budget.charge(len(r))
        return r

    def text(self, *parts: str) -> str:
        """The parts of a formatted string as one."""
        self.budget.charge(sum(map(size, parts)))
        return "".join(parts)

    def str_(self, value: Any) -> str:
        self.weigh(value)
        r = str(value)
        self.budget.charge(size(r))
        return r

    def repr_(self, value: Any) -> str:
        self.weigh(value)
        r = repr(value)
        self.budget.charge(size(r))
        return r

    def ascii_(self, value: Any) -> str:
        self.weigh(value)
        r = ascii(value)
        self.budget.charge(size(r))
        return r

    def _digits(self, value: int) -> None:
        if not -(1 << 4096) < value < (1 << 4096):
            n = int.bit_length(value)
            self.budget.labour((n // 30) ** 2)
            self.budget.charge(n // 3)

    def weigh(self, value: Any) -> None:
        """Counts what a text of value will take at least, each place of an object that stands in many places."""
        if isinstance(value, int):
            self._digits(value)
            return
        if isinstance(value, (str, bytes, bytearray)):
            self.budget.charge(len(value))
            return
        if not isinstance(value, (list, tuple, dict, set, frozenset)):
            return
        self.budget.work(places(value))  # the walk below takes its own time
        stack: List[Tuple[Any, int]] = [(value, 0)]
        while stack:
            v, depth = stack.pop()
            self.budget.charge(2)
            if isinstance(v, int):
                self._digits(v)
            elif isinstance(v, (str, bytes, bytearray)):
                self.budget.charge(len(v))
            elif isinstance(v, dict) and depth < _NESTING:
                for k, x in dict.items(v):
                    stack.append((k, depth + 1))
                    stack.append((x, depth + 1))
            elif isinstance(v, (list, tuple, set, frozenset)) and depth < _NESTING:
                self.budget.charge(len(v))
                stack.extend((x, depth + 1) for x in v)

    def percent(self, a: Any, b: Any) -> None:
        """Counts a % b for a text a."""
        self.budget.charge(len(a))
        pattern = a if isinstance(a, str) else bytes(a).decode("latin-1")
        values: Sequence[Any] = b if isinstance(b, tuple) else (b,)
        if isinstance(b, dict):
            values = tuple(dict.values(b))
        stars = False
        for width, precision in _PERCENT.findall(pattern):
            for n in (width, precision):
                stars = stars or n == "*"
                if n and n != "*":
                    self.budget.charge(_number(n))
        for v in values:
            if stars and isinstance(v, int):
                self.budget.charge(min(abs(v), 1 << 62))
            self.weigh(v)

    def format_text(self, template: str, args: Sequence[Any], names: Mapping[str, Any]) -> str:
        """template.format(*args, **names), attributes judged."""
        out: List[str] = []
        self._fields(str.__str__(template), args, names, out, 2, [0])
        return self.text(*out)

    def _fields(self, template: str, args: Sequence[Any], names: Mapping[str, Any], out: List[str], depth: int, auto: List[Any]) -> None:
        if depth < 0:
            raise ValueError("Max string recursion exceeded")
        self.budget.charge(len(template))
        for literal, field, spec, conversion in _string.formatter_parser(template):
            self.budget.tick()
            if literal:
                out.append(literal)
            if field is None:
                continue
            value, _ = self.field(field, args, names, auto)
            if spec:
                inner: List[str] = []
                self._fields(spec, args, names, inner, depth - 1, auto)
                spec = "".join(inner)
            if conversion and conversion not in "sra":
                raise ValueError(f"Unknown conversion specifier {conversion!s}")
            out.append(self.fmt(value, ord(conversion) if conversion else -1, spec or ""))

    def field(self, name: str, args: Sequence[Any], names: Mapping[str, Any], auto: List[Any]) -> Tuple[Any, Any]:
        """The object that a field of a format string names, attributes judged, and what the name begins with."""
        first, rest = _string.formatter_field_name_split(name)
        value = self._first(first, args, names, auto)
        for is_attribute, part in rest:
            value = self.read(value, part) if is_attribute else self.item(value, part)
        return value, first

    def _first(self, first: Any, args: Sequence[Any], names: Mapping[str, Any], auto: List[Any]) -> Any:
        if first == "":
            if auto[0] is None:
                raise ValueError("cannot switch from manual field specification to automatic field numbering")
            first = auto[0]
            auto[0] += 1
        elif isinstance(first, int):
            if auto[0]:
                raise ValueError("cannot switch from automatic field numbering to manual field specification")
            auto[0] = None
        if isinstance(first, int):
            if first >= len(args):
                raise IndexError(f"Replacement index {first} out of range for positional args tuple")
            return args[first]
        return names[first]


def _number(digits: str) -> int:
    return int(digits) if len(digits) < 18 else 1 << 62
