# A module of the project inherits no trust by its name, nor by the name of its folder.
#= inside
#: psb_evil RuleModuleNotFoundError import ctypes
#: psbx RuleModuleNotFoundError import ctypes
#: encodings_evil RuleModuleNotFoundError import ctypes
#: site-packages RuleModuleNotFoundError import ctypes
import sys
from tries import attempt

sys.path.insert(0, "vendor/site-packages")


def fresh(name):
    for m in [m for m in sys.modules if m.partition(".")[0] in ("ctypes", "_ctypes")]:
        del sys.modules[m]
    return __import__(name)


attempt("psb_evil", lambda: fresh("psb_evil"))
attempt("psbx", lambda: fresh("psbx"))
attempt("encodings_evil", lambda: fresh("encodings_evil"))
attempt("site-packages", lambda: fresh("vendored"))
