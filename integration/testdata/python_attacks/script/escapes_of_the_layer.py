# What is known to get round the Python layer; the kernel stops it all the same.
#: open *
import gc
import os
import sys
import types
from tries import attempt, canary, cat, port, victim


def originals(name):
    # Every built-in function of that name that still lives.
    for o in list(sys.modules.values()):
        for v in list(getattr(o, "__dict__", {}).values()):
            for cell in getattr(v, "__closure__", None) or ():
                try:
                    c = cell.cell_contents
                except ValueError:
                    continue
                if isinstance(c, types.BuiltinFunctionType) and c.__name__ == name:
                    yield c
    for o in gc.get_objects():
        if isinstance(o, types.BuiltinFunctionType) and o.__name__ == name:
            yield o


attempt("closure", lambda: 1 // (next(originals("system"), os.system)(cat) == 0))
attempt("open", lambda: print(open(canary).read()))
