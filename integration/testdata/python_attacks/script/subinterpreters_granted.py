# Where they are granted, they begin with the same rules.
#| [python.import]
#| "_interpreters" = true
#| "_xxsubinterpreters" = true
#| [python.call]
#| "_interpreters.create" = true
from tries import attempt, canary, cat

code = """
import os
def attempt(name, act):
    try:
        act()
    except BaseException as e:
        print("refused", name, type(e).__name__, flush=True)
    else:
        print("reached", name, flush=True)
attempt("system", lambda: os.system(%r))
attempt("import", lambda: __import__("ctypes"))
attempt("open", lambda: print(open(%r).read()))
""" % (cat, canary)
#: system RuleApiPermissionError call os.system


def create():
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            module = __import__(name)
        except ModuleNotFoundError:
            continue
        i = module.create()
        return module.exec(i, code) if hasattr(module, "exec") else module.run_string(i, code)


create()
