"""psb in Python: guarded text, functions in a box. Names are loaded on first use, so that `import psb` costs nothing."""

from __future__ import annotations

MYPY = False
if MYPY:  # loading typing would cost every interpreter's start more than all the rest; see alias.py
    from typing import Any, List

_HOMES = {
    "SandBoxError": "psb.errors",
    "RulePermissionError": "psb.errors",
    "RuleModuleNotFoundError": "psb.errors",
    "RuleApiPermissionError": "psb.errors",
    "RuleEvalPermissionError": "psb.errors",
    "EvalSyntaxRejected": "psb.errors",
    "EvalInterrupted": "psb.errors",
    "SandBoxProtocolError": "psb.errors",
    "SandBoxBaseExceptionError": "psb.errors",
    "SandBoxCrashed": "psb.errors",
    "guarded_eval": "psb.guarded",
    "sandbox": "psb.partial",
    "sandboxes": "psb.partial",
    "run": "psb.partial",
    "execute": "psb.partial",
    "is_in_sandbox": "psb.partial",
    "sandbox_denials": "psb.partial",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'psb' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted({*globals(), *_HOMES})
