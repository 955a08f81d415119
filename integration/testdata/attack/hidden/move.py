"""Moves the folder around what is hidden, or the hidden name itself, to a name that nothing hides. argv: the folder around it, the rest of the path."""
import os
import sys

print("started", flush=True)
above, rest = sys.argv[1:]
for act in (lambda: os.rename(os.path.join(above, rest), "other"),
            lambda: os.rename(above, above + ".away"),
            lambda: os.link(os.path.join(above, rest), "linked")):
    try:
        act()
    except OSError as e:
        print(e)
for path in ("other", "linked", os.path.join(above + ".away", rest), os.path.join("other", os.path.basename(rest))):
    try:
        print(open(path).read())
    except OSError as e:
        print(path, e.strerror)
