"""Writes into the scripts that a user starts by name. argv: the folder bin."""
import sys

print("started", flush=True)
for act in (lambda: open(sys.argv[1] + "/activate", "a").write("# changed\n"),
            lambda: open(sys.argv[1] + "/pip", "a").write("# changed\n"),
            lambda: open(sys.argv[1] + "/ls", "x")):
    try:
        act()
    except OSError as e:
        print(e)
