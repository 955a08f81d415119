# The original functions lie in the cells of whatever guards them. Who takes one out is past the layer, and at the kernel's wall.
#: system -
#: posix_spawn -
#: open *
import os
from tries import attempt, canary, cat


def original(f):
    call = vars(type(f)).get("__call__")
    for cell in getattr(getattr(call, "fget", None), "__closure__", None) or ():
        try:
            raw = cell.cell_contents(f)[0]
        except Exception:
            continue
        if callable(raw):
            return raw
    return f


attempt("system", lambda: original(os.system)(cat))
attempt("posix_spawn", lambda: os.waitpid(original(os.posix_spawn)("/bin/cat", ["cat", canary], {}), 0))
attempt("open", lambda: print(original(open)(canary).read()))
