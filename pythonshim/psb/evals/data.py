"""What may leave an evaluation: data, and the caller's own objects as they were."""

from __future__ import annotations

import datetime
import decimal
import fractions
import itertools
import pathlib
import uuid
from typing import Any, Dict, Iterator, List, Mapping, Optional, Set

from psb.errors import RuleEvalPermissionError
from psb.evals import made

_ATOMS = frozenset(
    (
        type(None), bool, int, float, complex, str, bytes, bytearray, range, type(Ellipsis), type(NotImplemented), datetime.date, datetime.datetime,
        datetime.time, datetime.timedelta, datetime.timezone, decimal.Decimal, fractions.Fraction, uuid.UUID, pathlib.PurePosixPath, pathlib.PosixPath,
    )
)  # fmt: skip
_BOXES = (list, tuple, set, frozenset, dict)
_MOST = 1_000_000  # objects of the caller that the text may give back


def foreign(value: Any, own: Optional[Mapping[str, Any]]) -> Optional[type]:
    """The class of the first object in value that is neither data nor one of the caller's, None where there is none."""
    known: Optional[Set[int]] = None
    for v in _walk(value):
        t = type(v)
        if t in _ATOMS or t in _BOXES or (t is slice):
            continue
        if known is None:
            known = {id(x) for x in itertools.islice(_walk(own), _MOST)} if own else set()
        if id(v) not in known:
            return t
    return None


def leave(value: Any, own: Optional[Mapping[str, Any]]) -> Any:
    """value, or RuleEvalPermissionError where it is not only data and objects of the caller."""
    if type(value) in _ATOMS:
        return value
    kind = foreign(value, own)
    if kind is not None:
        raise refused("the result", kind)
    return value


def refused(what: str, kind: type) -> RuleEvalPermissionError:
    """The refusal of something that is no data."""
    error = RuleEvalPermissionError(f"psb: evaluated text refused: {what} holds a {kind.__name__}: only data leaves the evaluation")
    error.target, error.key = kind.__name__, ""
    error.hint = "let the text give numbers, texts, lists, dicts or dates"
    return error


def scrub(own: Mapping[str, Any]) -> bool:
    """Takes functions and objects of the text out of the caller's boxes; True where there were any."""
    found = False
    for box in _walk(own):
        if type(box) is list:
            for i, v in enumerate(box):
                if _text_made(v):
                    box[i], found = None, True
        elif type(box) is dict:
            for k in [k for k, v in box.items() if _text_made(v) or _text_made(k)]:
                dict.pop(box, k)
                found = True
        elif type(box) is set:
            bad = [v for v in box if _text_made(v)]
            box.difference_update(bad)
            found = found or bool(bad)
    return found


def _text_made(v: Any) -> bool:
    return made.is_instance(v) or made.is_class(v) or (made.is_function(v)) or type(v).__name__ in ("generator", "View")


def _walk(value: Any) -> Iterator[Any]:
    seen: Set[int] = set()
    stack: List[Any] = [value]
    keep: Dict[int, Any] = {}
    while stack:
        v = stack.pop()
        yield v
        t = type(v)
        if t not in _BOXES or id(v) in seen:
            continue
        seen.add(id(v))
        keep[id(v)] = v
        if t is dict:
            stack.extend(v.keys())
            stack.extend(v.values())
        else:
            stack.extend(v)
