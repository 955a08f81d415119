"""Prints all variables; only another one of a similar name is allowed. argv: none."""
import os

print("started", flush=True)
print(dict(os.environ))
