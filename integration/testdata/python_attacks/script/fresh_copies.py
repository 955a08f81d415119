# A guarded module made once more, with the functions it was born with.
#: reload RuleApiPermissionError call importlib.reload
#: again RuleApiPermissionError call os.system
#: posix-again RuleApiPermissionError call os.system
#: spec RuleApiPermissionError call os.system
#: create RuleApiPermissionError call os.system
#: loader RuleApiPermissionError call os.system
import importlib
import importlib.machinery
import importlib.util
import os
import sys
from tries import attempt, cat

_imp = sys.modules["_imp"]


def again(name):
    kept = sys.modules.pop(name)
    try:
        return __import__(name)
    finally:
        sys.modules[name] = kept


def from_spec(spec):
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def posix_spec():
    return importlib.machinery.BuiltinImporter.find_spec("posix")


def created():
    module = _imp.create_builtin(posix_spec())
    _imp.exec_builtin(module)
    return module


attempt("reload", lambda: importlib.reload(os).system(cat))
attempt("again", lambda: again("os").system(cat))
attempt("posix-again", lambda: again("posix").system(cat))
attempt("spec", lambda: from_spec(posix_spec()).system(cat))
attempt("create", lambda: created().system(cat))
attempt("loader", lambda: importlib.machinery.BuiltinImporter.load_module("posix").system(cat))
