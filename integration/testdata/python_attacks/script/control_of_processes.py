# Signals to itself, priorities, sessions and limits.
#| [python.import]
#| "resource" = true
#= inside
#: alarm RuleApiPermissionError call signal.alarm
#: setitimer RuleApiPermissionError call signal.setitimer
#: raise_signal RuleApiPermissionError call signal.raise_signal|os.kill
#: nice RuleApiPermissionError call os.nice
#: setpriority RuleApiPermissionError call os.setpriority
#: setpgid RuleApiPermissionError call os.setpgid
#: setrlimit RuleApiPermissionError call resource.setrlimit
import os
import resource
import signal
from tries import attempt

signal.signal(signal.SIGUSR1, signal.SIG_IGN)
attempt("alarm", lambda: signal.alarm(0))
attempt("setitimer", lambda: signal.setitimer(signal.ITIMER_REAL, 0))
attempt("raise_signal", lambda: signal.raise_signal(signal.SIGUSR1))
attempt("nice", lambda: os.nice(0))
attempt("setpriority", lambda: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0)))
attempt("setpgid", lambda: os.setpgid(0, 0))
attempt("setrlimit", lambda: resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE)))
