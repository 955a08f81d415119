"""Approves a policy of its own making: makes and removes names among the approvals. argv: their folder, a word."""
import os
import sys

print("started", flush=True)
folder, word = sys.argv[1:]
for act in (lambda: os.makedirs(folder, exist_ok=True), lambda: open(os.path.join(folder, word), "w").close(),
            lambda: os.symlink("/", os.path.join(folder, word + ".link")), lambda: [os.unlink(e.path) for e in os.scandir(folder)],
            lambda: open(os.path.join(folder, word + ".two"), "w").close(), lambda: os.rename(folder, folder + ".away")):
    try:
        act()
    except OSError as e:
        print(e)
