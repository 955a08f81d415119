# Takes memory in steps of 8 MiB and says how much it has; the fuse is its argument.
import sys

held = []
while len(held) * 8 < int(sys.argv[1]):
    held.append(bytearray(b"x" * (8 << 20)))
    print(len(held) * 8, flush=True)
print("all of it")
