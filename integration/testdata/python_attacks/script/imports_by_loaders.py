# Loaders and specs used directly, past the import statement.
#= inside
#: spec RuleModuleNotFoundError import ctypes
#: source-loader RuleModuleNotFoundError import ctypes
#: extension RuleModuleNotFoundError import ctypes
#: dynamic RuleModuleNotFoundError import ctypes
#: builtin-importer RuleModuleNotFoundError import marshal
#: finder RuleModuleNotFoundError import ctypes
import importlib.machinery
import importlib.util
import os
import sys
from tries import attempt

_imp = sys.modules["_imp"]

folder = os.path.dirname(os.__file__)
source = folder + "/ctypes/__init__.py"


def extension():
    dynload = folder + "/lib-dynload"
    return [dynload + "/" + n for n in os.listdir(dynload) if n.startswith("_ctypes.")][0]


def from_spec(spec):
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


attempt("spec", lambda: from_spec(importlib.util.spec_from_file_location("ctypes", source)))
attempt("source-loader", lambda: importlib.machinery.SourceFileLoader("harmless", source).load_module())
attempt("extension", lambda: from_spec(importlib.util.spec_from_file_location("_ctypes", extension())))
attempt("dynamic", lambda: _imp.create_dynamic(importlib.util.spec_from_file_location("_ctypes", extension())))
attempt("builtin-importer", lambda: from_spec(importlib.machinery.BuiltinImporter.find_spec("marshal")))
attempt("finder", lambda: from_spec(importlib.machinery.PathFinder.find_spec("ctypes")))
