# The list of finders is emptied, replaced, overtaken; loaded modules are thrown away.
#= inside
#: cleared RuleModuleNotFoundError import ctypes
#: replaced RuleModuleNotFoundError import ctypes
#: overtaken RuleModuleNotFoundError import ctypes
#: own-import RuleModuleNotFoundError import ctypes
#: thrown-away RuleModuleNotFoundError import ctypes
#: reloaded RuleApiPermissionError call importlib.reload
import builtins
import importlib
import importlib.machinery
import sys
from tries import attempt

before = list(sys.meta_path)
basic = [importlib.machinery.BuiltinImporter, importlib.machinery.FrozenImporter, importlib.machinery.PathFinder]


def gone():
    for name in [n for n in sys.modules if n.partition(".")[0] in ("ctypes", "_ctypes")]:
        del sys.modules[name]


class First:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return importlib.machinery.PathFinder.find_spec(name, path, target)


def cleared():
    sys.meta_path.clear()
    sys.meta_path.extend(basic)
    return __import__("ctypes")


def replaced():
    sys.meta_path = list(basic)
    return __import__("ctypes")


def overtaken():
    sys.meta_path = [First] + before
    return __import__("ctypes")


def own_import():
    sys.meta_path = before
    builtins.__import__ = importlib.__import__
    import ctypes


def thrown_away():
    for name in ("psb", "encodings", "importlib._bootstrap", "_frozen_importlib"):
        sys.modules.pop(name, None)
    return __import__("ctypes")


for name, act in (("cleared", cleared), ("replaced", replaced), ("overtaken", overtaken), ("own-import", own_import), ("thrown-away", thrown_away)):
    attempt(name, act)
    gone()
attempt("reloaded", lambda: importlib.reload(importlib))
