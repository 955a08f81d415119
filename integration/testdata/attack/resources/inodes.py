"""Makes empty files without end. argv: the folder, how many at most."""
import os
import sys

print("started", flush=True)
n = 0
try:
    for n in range(int(sys.argv[2])):
        os.close(os.open(os.path.join(sys.argv[1], f"psb{n}"), os.O_CREAT | os.O_WRONLY))
    print("reached", n + 1, "files")
except OSError as e:
    print(e.strerror, "after", n)
