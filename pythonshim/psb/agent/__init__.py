"""psb mcp's tools for a program in Python: code of a model runs in boxes, and its results come back as values.

    with Toolkit() as kit:
        kit.run_python("sum(range(10))").value

The server is a psb process of its own; see docs/agents.md. Nothing that a box prints is trusted, and nothing is unpickled."""

from __future__ import annotations

from typing import Any

_HOMES = {
    "Toolkit": "toolkit",
    "AsyncToolkit": "aio",
    "AsyncTask": "aio",
    "AsyncSession": "aio",
    "AsyncShell": "aio",
    "AsyncFiles": "aio",
    "Answer": "answers",
    "Result": "answers",
    "File": "answers",
    "Variable": "answers",
    "Limit": "answers",
    "Kept": "answers",
    "Task": "tasks",
    "TaskStatus": "tasks",
    "Logs": "tasks",
    "Session": "sessions",
    "SessionInfo": "sessions",
    "ClosedSessions": "sessions",
    "Shell": "shells",
    "Files": "files",
    "Edit": "files",
    "FileInfo": "files",
    "Metrics": "metrics",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'psb.agent' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"psb.agent.{home}"), name)
