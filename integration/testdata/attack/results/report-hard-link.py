"""Plants another name of a file it may write, where the report will be written. argv: the report, the file."""
import os
import sys

print("started", flush=True)
for act in (lambda: os.unlink(sys.argv[1]),):
    try:
        act()
    except OSError as e:
        print(e)
for act in (lambda: os.link(sys.argv[2], sys.argv[1]),):
    try:
        act()
    except OSError as e:
        print(e)
