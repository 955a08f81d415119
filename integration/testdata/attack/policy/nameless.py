"""Makes a file without a name and gives it the name of the policy. argv: the policy file."""
import os
import sys

print("started", flush=True)
path = sys.argv[1]
for act in (lambda: os.unlink(path), lambda: os.rename(path, path + ".old")):
    try:
        act()
    except OSError as e:
        print(e)
try:
    fd = os.open(os.path.dirname(path), os.O_TMPFILE | os.O_RDWR, 0o644)
    os.write(fd, b"version = 1\n")
    os.link("/proc/self/fd/%d" % fd, path, src_dir_fd=0)
except OSError as e:
    print(e)
