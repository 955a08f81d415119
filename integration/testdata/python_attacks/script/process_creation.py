# Every way to a new process, one by one.
#: system RuleApiPermissionError call os.system
#: popen RuleApiPermissionError call os.popen
#: spawnv RuleApiPermissionError call os.spawnv
#: spawnlp RuleApiPermissionError call os.spawnlp
#: posix_spawn RuleApiPermissionError call os.posix_spawn
#: posix_spawnp RuleApiPermissionError call os.posix_spawnp
#: fork RuleApiPermissionError call os.fork
#: forkpty RuleApiPermissionError call os.forkpty
#: execv RuleApiPermissionError call os.execv
#: execve RuleApiPermissionError call os.execve
#: execl RuleApiPermissionError call os.execl
#: execvp RuleApiPermissionError call os.execvp
import os
import sys
from tries import attempt, canary, cat

attempt("system", lambda: os.system(cat))
attempt("popen", lambda: print(os.popen(cat).read()))
attempt("spawnv", lambda: os.spawnv(os.P_WAIT, "/bin/cat", ["cat", canary]))
attempt("spawnlp", lambda: os.spawnlp(os.P_WAIT, "cat", "cat", canary))
attempt("posix_spawn", lambda: os.waitpid(os.posix_spawn("/bin/cat", ["cat", canary], {}), 0))
attempt("posix_spawnp", lambda: os.waitpid(os.posix_spawnp("cat", ["cat", canary], {}), 0))
attempt("fork", lambda: os.waitpid(os.fork() or os._exit(0), 0))
attempt("forkpty", lambda: os.waitpid(os.forkpty()[0] or os._exit(0), 0))


def replaced(act):
    # Without psb it happens in a copy, so that the next one is tried, too.
    if "fork" not in sys.argv:
        return act
    return lambda: os.waitpid(os.fork() or act(), 0)


attempt("execv", replaced(lambda: os.execv("/bin/cat", ["cat", canary])))
attempt("execve", replaced(lambda: os.execve("/bin/cat", ["cat", canary], {})))
attempt("execl", replaced(lambda: os.execl("/bin/cat", "cat", canary)))
attempt("execvp", replaced(lambda: os.execvp("cat", ["cat", canary])))
