# Built-in names and functions of the standard library that lie are of no use: the guard took its own before the program began.
#: isinstance RuleApiPermissionError call os.system
#: issubclass RuleApiPermissionError call os.system
#: any RuleApiPermissionError call os.system
#: all RuleApiPermissionError call os.system
#: hasattr RuleApiPermissionError call os.system
#: str RuleApiPermissionError call os.system
#: len RuleApiPermissionError call os.system
#: getattr RuleApiPermissionError call os.system
#: type RuleApiPermissionError call os.system
#: repr RuleApiPermissionError call os.system
#: int RuleApiPermissionError call os.system
#: bytes RuleApiPermissionError call os.system
#: tuple RuleApiPermissionError call os.system
#: list RuleApiPermissionError call os.system
#: dict RuleApiPermissionError call os.system
#: set RuleApiPermissionError call os.system
#: frozenset RuleApiPermissionError call os.system
#: max RuleApiPermissionError call os.system
#: min RuleApiPermissionError call os.system
#: ord RuleApiPermissionError call os.system
#: chr RuleApiPermissionError call os.system
#: map RuleApiPermissionError call os.system
#: next RuleApiPermissionError call os.system
#: iter RuleApiPermissionError call os.system
#: RuntimeError RuleApiPermissionError call os.system
#: PermissionError RuleApiPermissionError call os.system
#: OSError RuleApiPermissionError call os.system
#: Exception RuleApiPermissionError call os.system
#: BaseException RuleApiPermissionError call os.system
#: KeyError RuleApiPermissionError call os.system
#: import-any RuleModuleNotFoundError import ctypes
#: import-all RuleModuleNotFoundError import ctypes
#: import-RuntimeError RuleModuleNotFoundError import ctypes
#: import-PermissionError RuleModuleNotFoundError import ctypes
#: frames RuleApiPermissionError call os.system
#: library RuleApiPermissionError call os.system
#: open *
import builtins
import os
import sys
from tries import attempt, canary, cat


class S(str):
    def startswith(self, *a):
        return True

    def __eq__(self, o):
        return True

    __hash__ = str.__hash__


def true(*a, **k):
    return True


def under(owner, lies, act):
    kept = {name: getattr(owner, name) for name in lies}
    vars(owner).update(lies)
    try:
        return act()
    finally:
        vars(owner).update(kept)


LIES = ["isinstance", "issubclass", "any", "all", "hasattr", "str", "len", "getattr", "type", "repr", "int", "bytes", "tuple", "list", "dict", "set", "frozenset", "max", "min", "ord", "chr", "map", "next", "iter", "RuntimeError", "PermissionError", "OSError", "Exception", "BaseException", "KeyError"]
for name in LIES:
    lie = S if name == "str" else KeyError if name[0].isupper() else true
    attempt(name, lambda: under(builtins, {name: lie}, lambda: os.system(cat)))
    if name in ("any", "all", "RuntimeError", "PermissionError"):
        attempt("import-" + name, lambda: under(builtins, {name: lie}, lambda: __import__("ctypes")))
        for m in [m for m in sys.modules if m.partition(".")[0] in ("ctypes", "_ctypes")]:
            del sys.modules[m]
attempt("frames", lambda: under(sys, {"_getframe": true}, lambda: os.system(cat)))
attempt("library", lambda: under(sys.modules["posix"], {"write": true, "getcwd": true}, lambda: os.system(cat)))
attempt("open", lambda: under(os, {"fspath": lambda p: p}, lambda: under(os.path, {"realpath": true}, lambda: under(builtins, {"isinstance": true, "any": true}, lambda: os.write(1, open(canary, "rb", 0).read())))))
