"""Writes into the files that the policy includes, replaces and removes them. argv: the files."""
import os
import sys

print("started", flush=True)
for path in sys.argv[1:]:
    open(path + ".own", "w").close()
    for act in (lambda: open(path, "a").write("changed"), lambda: os.replace(path + ".own", path), lambda: os.unlink(path)):
        try:
            act()
        except OSError as e:
            print(e)
