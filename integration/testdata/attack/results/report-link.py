"""Plants a link where the report will be written. argv: the report, the file outside."""
import os
import sys

print("started", flush=True)
for act in (lambda: os.unlink(sys.argv[1]),):
    try:
        act()
    except OSError as e:
        print(e)
for act in (lambda: os.symlink(sys.argv[2], sys.argv[1]),):
    try:
        act()
    except OSError as e:
        print(e)
