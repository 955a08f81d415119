"""`import pysandboxes` gives this package where no package of that name is installed.

The last of all finders: whatever else finds the name comes first, so that nothing is hidden and pip never writes over anybody's files.
psb_sandbox.pth puts it there at the interpreter's start; it imports nothing until the name is asked for."""

from __future__ import annotations

import sys

MYPY = False
if MYPY:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any, Optional

NAME = "pysandboxes"


class Finder:
    """Last in sys.meta_path."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Optional[ModuleSpec]:
        """A spec for the alias and what is below it."""
        if name != NAME and not name.startswith(NAME + "."):
            return None
        from importlib.machinery import ModuleSpec

        loader: Any = Loader()
        return ModuleSpec(name, loader, origin="psb", is_package=name == NAME)


class Loader:
    """Gives psb's own modules under the other name."""

    module: Any
    spec: Any

    def create_module(self, spec: ModuleSpec) -> Optional[ModuleType]:
        """A submodule itself; for the package a module of its own, so that psb stays what it is."""
        from importlib import import_module

        self.module = import_module("psb" + spec.name[len(NAME) :])
        self.spec = self.module.__spec__
        return None if spec.name == NAME else self.module

    def exec_module(self, module: Any) -> None:
        """Nothing is run a second time."""
        if module is self.module:
            module.__spec__ = self.spec  # a submodule stays what it is, under both names
            return
        # Its __path__ is empty: a search there would load every submodule a second time.
        module.__doc__ = self.module.__doc__
        module.__all__ = self.module.__all__
        module.__getattr__ = lambda name: getattr(self.module, name)
        module.__dir__ = lambda: dir(self.module)


def install() -> None:
    """Once in a process."""
    finders: Any = sys.meta_path
    if Finder not in finders:
        finders.append(Finder)


install()
