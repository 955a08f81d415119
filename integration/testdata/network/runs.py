"""Runs a program that is not Python. argv: its command line."""
import subprocess
import sys

r = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=50)
print(r.returncode, r.stdout, end="")
