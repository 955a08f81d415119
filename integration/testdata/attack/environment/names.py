"""Asks for variables by their names, as text and as bytes. argv: the name."""
import os
import sys

print("started", flush=True)
name = sys.argv[1]
print(os.environ.get(name), os.getenv(name), os.environb.get(name.encode()), os.getenvb(name.encode()), dict(os.environb))
