"""Partial mode: single functions run in a box of psb, the rest of the program does not.

    @sandbox
    def parse(data: bytes) -> dict: ...

    with sandboxes():
        parse(untrusted)

The box is a psb process with the kernel's walls; see docs/partial.md. Nothing that it sends is trusted."""

from __future__ import annotations

from typing import Any

_HOMES = {
    "sandbox": "decorate",
    "sandboxes": "block",
    "run": "block",
    "execute": "snippet",
    "is_in_sandbox": "inside",
    "sandbox_denials": "denials",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'psb.partial' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"psb.partial.{home}"), name)
