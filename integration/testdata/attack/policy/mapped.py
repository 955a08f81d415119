"""Maps the policy into memory and writes there. argv: the policy file."""
import mmap
import sys

print("started", flush=True)
try:
    with open(sys.argv[1], "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
        m[:9] = b"#########"
except OSError as e:
    print(e)
