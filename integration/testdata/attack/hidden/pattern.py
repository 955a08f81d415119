"""Walks over all it may read and prints every file. argv: none."""
import os

print("started", flush=True)
for above, _, files in os.walk("."):
    for name in files:
        try:
            print(open(os.path.join(above, name), errors="replace").read())
        except OSError as e:
            print(above, name, e.strerror)
