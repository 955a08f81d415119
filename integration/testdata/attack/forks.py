"""A fork bomb with a fuse: at most so many children, which end with it. argv: how many, a word to be found by."""
import os
import sys

print("started", flush=True)
r, w = os.pipe()
made = 0
for _ in range(int(sys.argv[1])):
    try:
        if os.fork() == 0:
            os.close(w)
            os.read(r, 1)
            os._exit(0)
        made += 1
    except OSError as e:
        print("fork", e.strerror)
        break
print("made", made)
print("ready", flush=True)
sys.stdin.read()
