"""Which modules of the standard library the codec's forms may use: those that are loaded. A message never makes its receiver import one:
the search would find a file that the sender wrote into a folder of sys.path."""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from typing import Any, Dict, Optional

from psb.errors import SandBoxProtocolError

NEEDED = ("array", "collections", "datetime", "decimal", "fractions", "ipaddress", "pathlib", "time", "uuid", "zoneinfo")
_LIBRARY = os.path.join(os.path.dirname(os.path.abspath(os.__file__)), "")
_OTHERS = (_LIBRARY + "site-packages/", _LIBRARY + "dist-packages/")
_ZONE = re.compile(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*\Z")

_found: Dict[str, Any] = {"builtins": sys.modules["builtins"]}


def load_all() -> None:
    """Import what forms need, before any message is there to be read. What is not the standard library's own is left out."""
    from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder

    for name in NEEDED:
        if name in sys.modules:
            continue
        spec = BuiltinImporter.find_spec(name) or FrozenImporter.find_spec(name) or PathFinder.find_spec(name)
        if spec is not None and _standard(spec):
            try:
                import_module(name)
            except Exception:  # an interpreter without a part of its library: its values arrive as records
                pass


def find(name: str) -> Optional[Any]:
    """The module of that name where it is loaded and the standard library's own, else None."""
    module = _found.get(name)
    if module is None:
        module = sys.modules.get(name)
        if module is None or name not in NEEDED or not _standard(getattr(module, "__spec__", None)):
            return None
        _found[name] = module
    return module


def get(name: str) -> Any:
    """The same, or SandBoxProtocolError."""
    module = find(name)
    if module is None:
        raise SandBoxProtocolError(f"psb: a message needs the module {name}, which is not loaded here")
    return module


def zone(key: str) -> Any:
    """The zone of that key from the system's files, or of a package tzdata that is loaded as far as the key needs it; else ValueError.

    ZoneInfo itself would import a package tzdata and folders of it by the key."""
    if len(key) > 200 or not _ZONE.match(key):
        raise ValueError("no key of a time zone")
    module = get("zoneinfo")
    package = ".".join(["tzdata", "zoneinfo", *key.split("/")[:-1]])
    loaded = package in sys.modules and "importlib.resources" in sys.modules
    if not loaded and not any(os.path.isfile(os.path.join(p, key)) for p in module.TZPATH):
        raise ValueError("a time zone that is not known here")
    return module.ZoneInfo(key)


def _standard(spec: Any) -> bool:
    origin = getattr(spec, "origin", None)
    if origin in ("built-in", "frozen"):
        return True
    return type(origin) is str and os.path.abspath(origin).startswith(_LIBRARY) and not os.path.abspath(origin).startswith(_OTHERS)
