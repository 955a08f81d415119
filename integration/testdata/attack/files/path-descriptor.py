"""Takes a descriptor without rights on the file and opens it anew through /proc. argv: the file."""
import os
import sys

print("started", flush=True)
for path in (sys.argv[1], os.path.relpath(sys.argv[1])):
    try:
        fd = os.open(path, os.O_PATH)
        for way in ("/proc/self/fd/%d", "/proc/thread-self/fd/%d", "/dev/fd/%d"):
            print(open(way % fd).read())
    except OSError as e:
        print(e)
