# A framework's finder that stands first goes on working, and brings no refused module along.
#= inside
#: refused RuleModuleNotFoundError import ctypes
import importlib.abc
import importlib.util
import sys
from tries import attempt


class Made(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if name == "made" else None

    def exec_module(self, module):
        module.answer = 42


sys.meta_path.insert(0, Made())
import made

print("works", made.answer)
attempt("refused", lambda: __import__("ctypes"))
