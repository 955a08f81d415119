# Children that do not load the Python layer as the parent did, other programs among them, wear the same walls.
#: isolated *
#: nothing *
#: env *
#: cat *
#: shell *
#: perl *
#| [files]
#| "/bin/cat" = "exec"
#| "/bin/sh" = "exec"
#| "/usr/bin/env" = "exec"
#| "/usr/bin/perl" = "exec"
#| [python.import]
#| "subprocess" = true
#| [python.call]
#| "process-exec" = true
import subprocess
import sys
from tries import attempt, canary

code = "import os; print(open(%r).read())" % canary


def run(*argv, **more):
    r = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True, **more)
    print(r.stdout)
    return 1 // (r.returncode == 0)


attempt("isolated", lambda: run(sys.executable, "-I", "-S", "-c", code))
attempt("nothing", lambda: run(sys.executable, "-I", "-S", "-c", code, env={}))
attempt("env", lambda: run("/usr/bin/env", "python3", "-c", code))
attempt("cat", lambda: run("/bin/cat", canary))
attempt("shell", lambda: run("/bin/sh", "-c", "cat '%s'" % canary))
attempt("perl", lambda: run("/usr/bin/perl", "-e", "open F, $ARGV[0] or exit 1; print <F>", canary))
