"""@sandbox. This much of the package a box loads, too, with the caller's module; what opens boxes stays unloaded there."""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any, Callable, Dict, Optional, Tuple, TypeVar, overload

from psb import codec
from psb.partial.inside import is_in_sandbox

F = TypeVar("F", bound=Callable[..., Any])
Ref = Tuple[str, str]

_COROUTINE = 0x80  # inspect.CO_COROUTINE
_GENERATORS = 0x20 | 0x200  # inspect.CO_GENERATOR, CO_ASYNC_GENERATOR


def is_async(function: Any) -> bool:
    """Whether a function is an `async def`."""
    return bool(function.__code__.co_flags & _COROUTINE)


@overload
def sandbox(function: F) -> F: ...


@overload
def sandbox() -> Callable[[F], F]: ...


def sandbox(function: Any = None) -> Any:
    """Mark a function: called while a sandboxes() block is open, it runs in its box. In a box it is a plain call.

    It is found again by its module and name, so it stands at the top of a module; arguments and results travel by psb.codec. An async
    function stays one. Generators cannot be sandboxed."""
    if function is None:
        return sandbox
    _check(function)
    ref = name_of(function)
    known = _Known(function)
    if is_async(function):

        @functools.wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            if is_in_sandbox():
                return await function(*args, **kwargs)
            return await _block().awaited(ref, args, kwargs, known)

        return awaited

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if is_in_sandbox():
            return function(*args, **kwargs)
        return _block().call(ref, args, kwargs, known)

    return called


def _check(function: Any) -> None:
    if not isinstance(function, FunctionType):
        raise TypeError(f"psb: @sandbox stands on functions, not on a {type(function).__name__}")
    if function.__code__.co_flags & _GENERATORS:
        raise TypeError(f"psb: @sandbox cannot run the generator {function.__qualname__} in a box: return a list")
    if "<locals>" in function.__qualname__ or "<lambda>" in function.__qualname__:
        raise TypeError(f"psb: @sandbox needs a function at the top of a module: {function.__qualname__} cannot be found again in the box")


def name_of(function: Any) -> Ref:
    """Where the box finds it."""
    module = function.__module__
    return "__main__" if module == "__mp_main__" else module, function.__qualname__


class _Known:
    """The classes that a function's annotations name: looked up at its first answer."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._found: Optional[Dict[str, type]] = None

    def __call__(self, name: str) -> Optional[type]:
        if self._found is None:
            import typing

            try:
                hints = typing.get_type_hints(self._function)
            except Exception:  # annotations that name nothing
                hints = {}
            self._found = codec.known_of(*hints.values())
        return self._found.get(name)


def _block() -> Any:
    from psb.partial.block import opened

    return opened()
