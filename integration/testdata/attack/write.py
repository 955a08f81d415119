"""Writes outside: changes a file that is there, makes one beside it, makes one in /var/tmp. argv: the file, the new one, the other new one."""
import os
import sys

print("started", flush=True)
for path in sys.argv[1:]:
    for flags in (os.O_WRONLY | os.O_TRUNC, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_APPEND):
        try:
            os.write(os.open(path, flags, 0o644), b"written from inside\n")
        except OSError as e:
            print(path, e.strerror)
