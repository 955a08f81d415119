"""Prints a variable that one line allows and another one denies. argv: the name."""
import os
import sys

print("started", flush=True)
print(os.environ.get(sys.argv[1]))
print(open("/proc/self/environ").read())
