"""Runs a set-user-ID program. argv: one that says who it is."""
import os
import sys

print("started", flush=True)
try:
    os.execv(sys.argv[1], [sys.argv[1], "-u"])
except OSError as e:
    print(e.strerror)
