# From 3.14 a process can have a script run in another one of the same user.
#: parent *
#= inside
#: remote RuleApiPermissionError call sys.remote_exec
import os
import sys
from tries import attempt, canary, place, victim

with open("/tmp/psb-injected-%d.py" % os.getpid(), "w") as f:
    f.write("open(%r, 'w')" % (place + "/left"))
for name, pid in (("remote", victim), ("parent", os.getppid())):
    attempt(name, lambda: sys.remote_exec(pid, f.name))
