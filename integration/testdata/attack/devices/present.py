"""Opens a node of a device that stands in a folder it may write. argv: the node, a word."""
import os
import sys

print("started", flush=True)
for act in (lambda: print(os.read(os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK), 64)),
            lambda: print(os.write(os.open(sys.argv[1], os.O_WRONLY | os.O_NONBLOCK), (sys.argv[2] + "\n").encode()))):
    try:
        act()
    except OSError as e:
        print(e)
