"""Leaves a file where all programs of the machine look: /dev/shm, /tmp, /var/tmp, /run/lock. argv: its name."""
import sys

print("started", flush=True)
for folder in ("/dev/shm/", "/tmp/", "/var/tmp/", "/run/lock/"):
    try:
        open(folder + sys.argv[1], "w").close()
    except OSError as e:
        print(folder, e.strerror)
