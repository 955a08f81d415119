"""Plants a link where the learned policy will be written. argv: the policy, the file outside."""
import os
import sys

print("started", flush=True)
for act in (lambda: os.unlink(sys.argv[1]),):
    try:
        act()
    except OSError as e:
        print(e)
for act in (lambda: os.symlink(sys.argv[2], sys.argv[1]),
            lambda: os.symlink(sys.argv[2], sys.argv[1] + ".new")):
    try:
        act()
    except OSError as e:
        print(e)
