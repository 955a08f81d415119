"""Writes hooks and settings of repositories deep below the project. argv: the folders .git."""
import os
import sys

print("started", flush=True)
for path in sys.argv[1:]:
    for act in (lambda: open(path + "/hooks/post-checkout", "a").write("# changed\n"), lambda: open(path + "/config", "a").write("[core]\n"),
                lambda: os.rename(os.path.dirname(path), os.path.dirname(path) + ".away")):
        try:
            act()
        except OSError as e:
            print(e)
