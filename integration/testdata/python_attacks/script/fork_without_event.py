# The low-level way to a new process, for which the interpreter tells no audit hook anything.
#: import RuleModuleNotFoundError import _posixsubprocess
#: subprocess RuleModuleNotFoundError import subprocess
#: table RuleApiPermissionError call _posixsubprocess.fork_exec
#: popen RuleApiPermissionError call subprocess.Popen
#: asyncio RuleApiPermissionError call subprocess.Popen
import asyncio
import os
import sys
from tries import attempt, canary


def fork_exec(module):
    r, w = os.pipe()
    args = [[b"/bin/cat", canary.encode()], [b"/bin/cat"], True, (w,), None, None, -1, -1, -1, -1, -1, -1, r, w, False, False]
    if sys.version_info >= (3, 14):
        args += [-1, None, None, None, -1, None]
    elif sys.version_info >= (3, 11):
        args += [-1, None, None, None, -1, None, False]
    elif sys.version_info >= (3, 9):
        args += [None, None, None, -1, None]
    else:
        args += [None]
    return os.waitpid(module.fork_exec(*args), 0)


attempt("import", lambda: fork_exec(__import__("_posixsubprocess")))
attempt("subprocess", lambda: __import__("subprocess").run(["/bin/cat", canary]))
attempt("table", lambda: fork_exec(sys.modules["_posixsubprocess"]))
attempt("popen", lambda: sys.modules["subprocess"].Popen(["/bin/cat", canary]).wait())
attempt("asyncio", lambda: asyncio.subprocess.subprocess.call(["/bin/cat", canary]))
