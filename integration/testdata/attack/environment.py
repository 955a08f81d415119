"""Looks for variables that were set outside."""
import os

print("started", flush=True)
print(dict(os.environ))
for pid in ("self", "1", str(os.getppid())):
    try:
        with open("/proc/%s/environ" % pid) as f:
            print(f.read().split("\0"))
    except OSError as e:
        print(pid, e.strerror)
