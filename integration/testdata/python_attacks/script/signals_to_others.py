# Processes outside, by every function that signals.
#= inside
#: kill RuleApiPermissionError call os.kill
#: killpg RuleApiPermissionError call os.killpg
#: pidfd RuleApiPermissionError call os.pidfd_open|os.kill
import os
import signal
from tries import attempt, victim

attempt("kill", lambda: os.kill(victim, 0))
attempt("killpg", lambda: os.killpg(victim, 0))
attempt("pidfd", lambda: os.close(os.pidfd_open(victim, 0)) if hasattr(os, "pidfd_open") else os.kill(victim, 0))
