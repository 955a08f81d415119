"""Puts filters of its own among those that psb keeps between runs, and removes those. argv: their folder, a word."""
import os
import sys

print("started", flush=True)
folder, word = sys.argv[1:]
for act in (lambda: os.unlink(folder + "/kept"), lambda: open(folder + "/kept", "a").write(word), lambda: open(folder + "/" + word, "x"),
            lambda: os.rename(os.path.dirname(folder), os.path.dirname(folder) + ".away")):
    try:
        act()
    except OSError as e:
        print(e)
