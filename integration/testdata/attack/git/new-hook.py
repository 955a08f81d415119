"""Makes a hook in the folder of hooks, by all calls that make a name. argv: the folder."""
import os
import sys

print("started", flush=True)
at = sys.argv[1] + "/"
open(at + "../../own", "w").close()
for act in (lambda: open(at + "pre-commit", "x"),
            lambda: os.symlink("/bin/sh", at + "post-merge"),
            lambda: os.rename(at + "../../own", at + "pre-push"),
            lambda: os.link("attack.py", at + "post-commit"),
            lambda: os.mkfifo(at + "update")):
    try:
        act()
    except OSError as e:
        print(e)
