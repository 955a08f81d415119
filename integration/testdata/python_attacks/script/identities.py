# Who the process is, and where it lives, is not changed.
#= inside
#: umask RuleApiPermissionError call os.umask
#: setgid RuleApiPermissionError call os.setgid
#: setuid RuleApiPermissionError call os.setuid
#: setresuid RuleApiPermissionError call os.setresuid
#: setreuid RuleApiPermissionError call os.setreuid
import os
from tries import attempt

attempt("umask", lambda: os.umask(os.umask(0o22)))
attempt("setgid", lambda: os.setgid(os.getgid()))
attempt("setuid", lambda: os.setuid(os.getuid()))
attempt("setresuid", lambda: os.setresuid(-1, -1, -1))
attempt("setreuid", lambda: os.setreuid(-1, -1))
