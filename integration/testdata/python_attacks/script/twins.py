# Each function once more by the module in C behind the one that is known.
#| [python.import]
#| "pickle" = true
#| "_pickle" = true
#| "_posixsubprocess" = true
#| "socket" = true
#: posix.system RuleApiPermissionError call os.system
#: posix.fork RuleApiPermissionError call os.fork
#: posix.execv RuleApiPermissionError call os.execv
#: posix.posix_spawn RuleApiPermissionError call os.posix_spawn
#: posix.kill RuleApiPermissionError call os.kill
#: _posixsubprocess.fork_exec RuleApiPermissionError call _posixsubprocess.fork_exec
#: _thread.start_new_thread RuleApiPermissionError call _thread.start_new_thread
#: _pickle.loads RuleApiPermissionError call pickle.loads
#: _pickle.load RuleApiPermissionError call pickle.load
#: _signal.alarm RuleApiPermissionError call signal.alarm
import io
import os
import posix
import _pickle
import _posixsubprocess
import _signal
import _thread
import sys
from tries import attempt, canary, cat


def replaced(act):
    if "fork" not in sys.argv:
        return act
    return lambda: os.waitpid(os.fork() or act(), 0)


def fork_exec():
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
    return os.waitpid(_posixsubprocess.fork_exec(*args), 0)


attempt("posix.system", lambda: posix.system(cat))
attempt("posix.fork", lambda: os.waitpid(posix.fork() or os._exit(0), 0))
attempt("posix.execv", replaced(lambda: posix.execv("/bin/cat", ["cat", canary])))
attempt("posix.posix_spawn", lambda: os.waitpid(posix.posix_spawn("/bin/cat", ["cat", canary], {}), 0))
attempt("posix.kill", lambda: posix.kill(os.getpid(), 0))
attempt("_posixsubprocess.fork_exec", fork_exec)
attempt("_thread.start_new_thread", lambda: _thread.start_new_thread(int, ()))
attempt("_pickle.loads", lambda: _pickle.loads(b"I1\n."))
attempt("_pickle.load", lambda: _pickle.load(io.BytesIO(b"I1\n.")))
attempt("_signal.alarm", lambda: _signal.alarm(0))
