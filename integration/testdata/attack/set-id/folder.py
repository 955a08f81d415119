"""Makes a folder whose files get its group. argv: the folder."""
import os
import sys

print("started", flush=True)
os.umask(0)
for act in (lambda: os.mkdir(sys.argv[1]),
            lambda: os.chmod(sys.argv[1], 0o2777),
            lambda: os.fchmod(os.open(sys.argv[1], os.O_RDONLY), 0o2777)):
    try:
        act()
    except OSError as e:
        print(e)
