"""Becomes a program of i386, written here by hand, that says "reached" by that interface's write(2). argv: where to put it."""
import os
import struct
import sys

print("started", flush=True)
text = b"reached the kernel as a program of i386\n"
base, head = 0x8048000, 52 + 32
code = (b"\xb8\x04\x00\x00\x00\xbb\x01\x00\x00\x00\xb9" + struct.pack("<I", base + head + 34) + b"\xba" + struct.pack("<I", len(text)) + b"\xcd\x80"
        + b"\xb8\x01\x00\x00\x00\x31\xdb\xcd\x80").ljust(34, b"\x90")  # write(1, text, its length); exit(0)
size = head + len(code) + len(text)
with open(sys.argv[1], "wb") as f:
    f.write(b"\x7fELF\x01\x01\x01".ljust(16, b"\0") + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, base + head, 52, 0, 0, 52, 32, 1, 0, 0, 0)
            + struct.pack("<IIIIIIII", 1, 0, base, base, size, size, 5, 4096) + code + text)
os.chmod(sys.argv[1], 0o755)
try:
    os.execv(sys.argv[1], [sys.argv[1]])
except OSError as e:
    print(e.strerror)
