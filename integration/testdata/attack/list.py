"""Lists a folder that no rule grants, the home. argv: the folder."""
import os
import sys

print("started", flush=True)
for way in (sys.argv[1], "/proc/self/root" + sys.argv[1], "/proc/1/root" + sys.argv[1], os.path.expanduser("~")):
    try:
        print(os.listdir(way))
    except OSError as e:
        print(way, e.strerror)
