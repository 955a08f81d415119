# Flags and tables of the guard, wherever they may stand, are set to what the attacker likes.
#: system RuleApiPermissionError call os.system
#: import RuleModuleNotFoundError import ctypes
import os
import sys
from tries import attempt, cat

words = ("_armed", "_rules", "_allowed", "armed", "enabled", "ENFORCE", "RULES", "learn", "LEARN", "here", "busy", "said", "kinds", "_psb", "guard")
for m in list(sys.modules.values()):
    d = getattr(m, "__dict__", {})
    for k in list(d):
        if k in words and not m.__name__ == "__main__":
            try:
                d[k] = {} if "ule" in k or "allow" in k or k == "kinds" else False
            except BaseException:
                pass
for o in list(vars(sys.modules["encodings"]).values()):
    for cell in getattr(o, "__closure__", None) or ():
        if type(cell.cell_contents) in (bool, dict, set):
            cell.cell_contents = {} if type(cell.cell_contents) is dict else set() if type(cell.cell_contents) is set else False
attempt("system", lambda: os.system(cat))
attempt("import", lambda: __import__("ctypes"))
