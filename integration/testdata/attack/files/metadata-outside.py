"""Changes mode, times and attributes of a file outside. argv: the file."""
import os
import sys

print("started", flush=True)
path = sys.argv[1]
for act in (lambda: os.chmod(path, 0o777), lambda: os.utime(path, (1, 1)), lambda: os.chown(path, -1, os.getgid()),
            lambda: os.setxattr(path, "user.a", b"1"), lambda: os.chmod(os.path.dirname(path), 0o777)):
    try:
        act()
    except OSError as e:
        print(e)
