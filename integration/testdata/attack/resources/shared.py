"""Takes memory that children would share. argv: how many MiB at most, a word to be found by."""
import mmap
import sys

print("started", flush=True)
held = []
try:
    for _ in range(int(sys.argv[1]) // 16):
        held.append(mmap.mmap(-1, 16 << 20))  # MAP_SHARED
        for at in range(0, 16 << 20, 4096):
            held[-1][at] = 1
except OSError as e:
    print(e.strerror)
print("ready", flush=True)
sys.stdin.read()
