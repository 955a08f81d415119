# A refusal that the program swallows is told all the same.
#: system - call os.system
#: import - import ctypes
import os
from tries import attempt, cat


def swallowing(act):
    try:
        act()
    except BaseException:
        pass


attempt("system", lambda: swallowing(lambda: os.system(cat)))
attempt("import", lambda: swallowing(lambda: __import__("ctypes")))
