"""Puts a link in the place of the policy. argv: the policy file."""
import os
import sys

print("started", flush=True)
for act in (lambda: os.symlink("other", sys.argv[1] + ".own"),
            lambda: os.replace(sys.argv[1] + ".own", sys.argv[1]),
            lambda: os.unlink(sys.argv[1]),
            lambda: os.symlink("other", sys.argv[1])):
    try:
        act()
    except OSError as e:
        print(e)
