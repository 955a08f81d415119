"""Adds a line to the policy that binds it. argv: the policy file."""
import os
import sys

print("started", flush=True)
text = b'version = 1\n[files]\n"/" = "write"\n'
for act in (lambda: os.write(os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND), text),
            lambda: open(sys.argv[1], "ab").write(text),
            lambda: os.write(os.open(os.path.basename(sys.argv[1]), os.O_RDWR | os.O_APPEND, dir_fd=os.open(os.path.dirname(sys.argv[1]), os.O_RDONLY)), text)):
    try:
        act()
    except OSError as e:
        print(e)
