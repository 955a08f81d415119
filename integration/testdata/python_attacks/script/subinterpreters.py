# An interpreter within the interpreter begins without what the first one was told.
#: create RuleModuleNotFoundError import _interpreters|_xxsubinterpreters
import os
import sys
from tries import attempt, canary, cat

code = "import os\nos.system(%r)\n" % cat


def create():
    module = __import__("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
    i = module.create()
    return module.exec(i, code) if hasattr(module, "exec") else module.run_string(i, code)


attempt("create", create)
