# Holding a module by another name is not the right to call what it guards.
#: logging RuleApiPermissionError call os.system
#: random RuleApiPermissionError call os.system
#: tempfile RuleApiPermissionError call os.system
#: popen RuleApiPermissionError call os.popen
#: inspect RuleApiPermissionError call builtins.eval
#: posix RuleApiPermissionError call os.system
#: table RuleApiPermissionError call os.system
#: uuid RuleApiPermissionError call os.system
#: shutil RuleApiPermissionError call os.execv
#: eval RuleApiPermissionError call builtins.eval
#: exec RuleApiPermissionError call builtins.exec
#: dictionary RuleApiPermissionError call os.system
import inspect
import json
import logging
import random
import shutil
import sys
import tempfile
import uuid
from tries import attempt, canary, cat

attempt("logging", lambda: logging.os.system(cat))
attempt("random", lambda: random._os.system(cat))
attempt("tempfile", lambda: tempfile._os.system(cat))
attempt("popen", lambda: print(tempfile._shutil.os.popen(cat).read()))
attempt("inspect", lambda: inspect.builtins.eval("print(open(%r).read())" % canary))
attempt("posix", lambda: __import__("posix").system(cat))
attempt("table", lambda: sys.modules["posix"].system(cat))
attempt("uuid", lambda: uuid.os.system(cat))


def replaced():
    # The control must go on after it.
    pid = shutil.os.fork() if "fork" in sys.argv else 0
    if pid:
        return shutil.os.waitpid(pid, 0)
    return shutil.os.execv("/bin/cat", ["cat", canary])


attempt("shutil", replaced)
attempt("eval", lambda: json.codecs.builtins.eval("print(open(%r).read())" % canary))
attempt("exec", lambda: logging.os.sys.modules["builtins"].exec("print(open(%r).read())" % canary))
attempt("dictionary", lambda: vars(logging.os)["system"](cat))
