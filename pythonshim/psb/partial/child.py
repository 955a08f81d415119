"""The program of a box: psb starts this file. It takes the channel off standard input and serves calls until the other end is gone."""

from __future__ import annotations

import os
import sys


def main() -> None:
    channel = os.dup(0)  # 0, 1 and 2 are open: above them, and not inherited
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != here]
    own = os.path.dirname(here)
    _package(SHOWN if _same(own, SHOWN) else own)
    import psb.alias  # noqa: F401  # the caller's module may know the package by its other name
    from psb.partial.serve import serve

    serve(channel)


# Where psb shows its package in a box. What stands there is psb's own for the rules of [python.*], as nothing else can be.
SHOWN = "/run/psb/python/psb"


def _same(one: str, other: str) -> bool:
    # Of one version to the byte: the half outside speaks to this one.
    for folder, _, names in os.walk(one):
        for name in names:
            if not name.endswith(".py"):
                continue
            file = os.path.join(folder, name)
            try:
                with open(file, "rb") as f, open(other + file[len(one) :], "rb") as g:
                    if f.read() != g.read():
                        return False
            except OSError:
                return False
    return True


def _package(folder: str) -> None:
    # By its place and not by a search: the half outside and this one are of one version, and the folder above stays unseen.
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("psb", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
    if spec is None or spec.loader is None:
        raise ImportError("no package psb beside its own script")
    sys.modules["psb"] = module = module_from_spec(spec)
    spec.loader.exec_module(module)


if __name__ == "__main__":
    main()
