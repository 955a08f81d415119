"""Prints without end, to both streams. argv: how many KiB at most."""
import os
import sys

print("started", flush=True)
for _ in range(int(sys.argv[1]) // 8):
    os.write(1, b"x" * 4095 + b"\n")
    os.write(2, b"x" * 4095 + b"\n")
