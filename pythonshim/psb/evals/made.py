"""What text made: its functions and classes, known by identity, so that no name and no file name can be forged."""

from __future__ import annotations

import types
import weakref
from typing import Any, Dict, Set

_codes: Dict[int, "weakref.ref[types.CodeType]"] = {}
_classes: "weakref.WeakSet[type]" = weakref.WeakSet()
OURS: Set[int] = set()  # ids of the code of guards, which live as long as this module does


def add_code(code: types.CodeType) -> None:
    """Notes code as compiled here, and all code inside it."""
    key = id(code)

    def forget(_: Any, key: int = key) -> None:
        _codes.pop(key, None)

    _codes[key] = weakref.ref(code, forget)
    for c in code.co_consts:
        if type(c) is types.CodeType:
            add_code(c)


def is_code(code: Any) -> bool:
    """Whether code was compiled here."""
    found = _codes.get(id(code))
    return found is not None and found() is code


def add_class(cls: type) -> None:
    """Notes a class of the text."""
    _classes.add(cls)


def is_class(cls: Any) -> bool:
    """Whether a class, or a base of it, was made by text."""
    return isinstance(cls, type) and (cls in _classes or any(c in _classes for c in cls.__mro__))


def is_own_class(cls: Any) -> bool:
    """Whether text made cls itself."""
    return cls in _classes


def is_function(f: Any) -> bool:
    """Whether f is a function of the text or a guard."""
    return type(f) is types.FunctionType and (is_code(f.__code__) or id(f.__code__) in OURS)


def is_instance(value: Any) -> bool:
    """Whether value is an instance of a class of the text."""
    return is_class(type(value))


def guard(f: types.FunctionType) -> types.FunctionType:
    """Marks the code of a guard, so that text may call what is made of it."""
    OURS.add(id(f.__code__))
    return f
