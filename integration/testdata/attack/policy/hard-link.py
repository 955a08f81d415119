"""Gives the policy another name and writes there. argv: the policy file."""
import os
import sys

print("started", flush=True)
for act in (lambda: os.link(sys.argv[1], sys.argv[1] + ".link"),
            lambda: os.link("/proc/self/fd/%d" % os.open(sys.argv[1], os.O_RDONLY), sys.argv[1] + ".link", src_dir_fd=0),
            lambda: open(sys.argv[1] + ".link", "r+").write("changed")):
    try:
        act()
    except OSError as e:
        print(e)
