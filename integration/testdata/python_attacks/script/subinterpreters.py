# An interpreter within the interpreter begins without what the first one was told.
#: create - import _interpreters
import os
import sys
from tries import attempt, canary, cat

code = "import os\nos.system(%r)\n" % cat


def create():
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            module = __import__(name)
        except ModuleNotFoundError as e:
            last = e
            continue
        i = module.create()
        return module.exec(i, code) if hasattr(module, "exec") else module.run_string(i, code)
    raise last


attempt("create", create)
