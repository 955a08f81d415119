"""Lets a program of the machine read the file. argv: the program, the file."""
import subprocess
import sys

print("started", flush=True)
r = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
print(r.stdout)
