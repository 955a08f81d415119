# The same where starting programs is granted to the Python layer: the kernel starts only what a rule names.
#: run *
#: system *
#: spawn *
#| [python.import]
#| "_posixsubprocess" = true
#| "subprocess" = true
#| [python.call]
#| "process-exec" = true
import os
import subprocess
import sys
from tries import attempt, canary, cat

attempt("run", lambda: subprocess.run(["/bin/cat", canary], check=True))
attempt("system", lambda: 1 // (os.system(cat) == 0))
attempt("spawn", lambda: 1 // (os.waitpid(os.posix_spawn("/bin/cat", ["cat", canary], {}), 0)[1] == 0))
attempt("exec", lambda: 1 // (os.waitpid(os.fork() or os.execv("/bin/cat", ["cat", canary]) or 0, 0)[1] == 0))
