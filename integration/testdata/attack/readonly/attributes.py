"""Sets and removes extended attributes of a file it may only read. argv: the file."""
import os
import sys

print("started", flush=True)
path = sys.argv[1]
for act in (lambda: os.setxattr(path, "user.a", b"1"), lambda: os.setxattr(os.open(path, os.O_RDONLY), "user.b", b"1"),
            lambda: os.setxattr(path, "user.c", b"1", follow_symlinks=False), lambda: os.removexattr(path, "user.kept")):
    try:
        act()
    except OSError as e:
        print(e)
