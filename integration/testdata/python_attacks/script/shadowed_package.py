# A package of the project that is called psb replaces nothing that guards.
#: import RuleModuleNotFoundError import ctypes
#: system RuleApiPermissionError call os.system
import os
import psb
from tries import attempt, cat

print("shadowed", psb.shadow)
attempt("import", lambda: __import__("ctypes"))
attempt("system", lambda: os.system(cat))
