"""A memory bomb with a fuse. argv: how many MiB at most, a word to be found by."""
import sys

print("started", flush=True)
held = []
try:
    for _ in range(int(sys.argv[1])):
        held.append(bytearray(b"x" * (1 << 20)))
except MemoryError:
    print("no memory after", len(held), "MiB")
print("ready", flush=True)
sys.stdin.read()
