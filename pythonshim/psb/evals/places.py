"""How much C goes through when it compares or hashes a value, worked out without going through it.

An object that stands in a value in many places is gone through once for each of them, which is 2**60 times for sixty small lists.
"""

from __future__ import annotations

import collections
import types
from gc import get_referents
from typing import Any, Dict, List, Tuple

_VIEWS: Tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
BOXES: Tuple[type, ...] = (list, tuple, dict, set, frozenset, collections.deque, slice, types.SimpleNamespace, types.MappingProxyType, *_VIEWS)
if hasattr(types, "GenericAlias"):
    BOXES += (types.GenericAlias,)
if hasattr(types, "UnionType"):
    BOXES += (types.UnionType,)
_SMALL = frozenset((float, complex, bool, type(None)))
_TEXTS = (str, bytes, bytearray)


def is_box(value: Any) -> bool:
    """Whether comparing or hashing value goes on to what it holds."""
    return isinstance(value, BOXES) or hasattr(type(value), "__dataclass_fields__")


def places(value: Any) -> int:
    """Steps of C for value, at most and about: one for each object in each of its places, more for long texts and numbers. A cycle counts once."""
    known: Dict[int, int] = {}  # of boxes; 0 while one is being counted
    if not is_box(value):
        return _of_plain(value)
    stack: List[Tuple[Any, List[Any], int]] = [(value, *_inside(value))]
    known[id(value)] = 0
    keep: List[Any] = []  # so that no id is given to another
    while True:
        box, boxes, steps = stack[-1]
        while boxes:
            inner = boxes[-1]
            done = known.get(id(inner))
            if done is None:
                known[id(inner)] = 0
                stack[-1] = (box, boxes, steps)
                stack.append((inner, *_inside(inner)))
                break
            boxes.pop()
            steps += done or 1
        else:
            known[id(box)] = steps
            keep.append(box)
            stack.pop()
            if not stack:
                return steps


def _inside(box: Any) -> Tuple[List[Any], int]:
    """The boxes in box, and the steps for itself and the rest of it."""
    held = get_referents(box) if isinstance(box, BOXES) else _fields(box)
    kinds = set(map(type, held))
    steps = 1 + len(held)
    if kinds <= _SMALL:
        return [], steps
    if len(kinds) == 1:
        kind = kinds.pop()
        if kind is int:
            return [], steps + (sum(map(int.bit_length, held)) >> 9)
        if kind is str or kind is bytes:
            return [], steps + (sum(map(len, held)) >> 5)
    boxes = []
    for x in held:
        if is_box(x) and not isinstance(x, type):
            boxes.append(x)
        else:
            steps += _of_plain(x) - 1
    return boxes, steps


def _fields(value: Any) -> List[Any]:
    out = []
    for name in type(value).__dataclass_fields__:
        try:
            out.append(object.__getattribute__(value, name))
        except AttributeError:
            continue
    return out


def _of_plain(x: Any) -> int:
    if isinstance(x, int):
        return 1 + (int.bit_length(x) >> 9)
    return 1 + (len(x) >> 5) if type(x) in _TEXTS else 1
