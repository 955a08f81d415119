"""Opens the policy for reading, and the open file for writing. argv: the policy file."""
import os
import sys

print("started", flush=True)
for flags in (os.O_RDONLY, os.O_PATH):
    fd = os.open(sys.argv[1], flags)
    for how in (os.O_RDWR, os.O_WRONLY | os.O_TRUNC):
        try:
            os.write(os.open("/proc/self/fd/%d" % fd, how), b"changed")
        except OSError as e:
            print(e)
