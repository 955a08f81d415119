# A refused module by every door that leads to it.
#= inside
#: statement RuleModuleNotFoundError import ctypes
#: from RuleModuleNotFoundError import ctypes
#: built-name RuleModuleNotFoundError import ctypes
#: import_module RuleModuleNotFoundError import ctypes
#: machinery RuleModuleNotFoundError import ctypes
#: original RuleModuleNotFoundError import ctypes
#: runpy ImportError import ctypes
#: resolve RuleModuleNotFoundError import ctypes
#: relative RuleModuleNotFoundError import ctypes
#: submodule RuleModuleNotFoundError import ctypes
#: twin RuleModuleNotFoundError import ctypes
#: builtin RuleModuleNotFoundError import marshal
#: loaded RuleModuleNotFoundError import subprocess
import builtins
import importlib
import pkgutil
import runpy
import asyncio
import sys
from tries import attempt


def statement():
    import ctypes


def other():
    from ctypes import CDLL


attempt("statement", statement)
attempt("from", other)
attempt("built-name", lambda: __import__("c" + "types"))
attempt("import_module", lambda: importlib.import_module("ctypes"))
attempt("machinery", lambda: sys.modules["_frozen_importlib"].__import__("ctypes"))
attempt("original", lambda: importlib.__import__("ctypes"))
attempt("runpy", lambda: runpy.run_module("ctypes.util"))
attempt("resolve", lambda: pkgutil.resolve_name("ctypes:CDLL") if hasattr(pkgutil, "resolve_name") else importlib.import_module("ctypes"))
attempt("relative", lambda: __import__("", {"__package__": "ctypes", "__name__": "ctypes", "__path__": []}, None, ("util",), 1))
attempt("submodule", lambda: __import__("ctypes.util"))
attempt("twin", lambda: __import__("_ctypes"))
attempt("builtin", lambda: __import__("marshal"))
attempt("loaded", lambda: [asyncio.subprocess, __import__("subprocess")][1])
