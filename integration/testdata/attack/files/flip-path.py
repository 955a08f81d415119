"""One thread changes the path while another opens it, for a check that reads it before the kernel does. argv: the file, one that may be read."""
import ctypes
import os
import sys
import threading
import time

print("started", flush=True)
bad, good = (p.encode() for p in sys.argv[1:])
libc = ctypes.CDLL(None)
size = max(len(bad), len(good)) + 1
path, done = ctypes.create_string_buffer(good, size), False


def flip():
    while not done:
        path.raw = bad.ljust(size, b"\0")
        path.raw = good.ljust(size, b"\0")


sys.setswitchinterval(1e-5)
threading.Thread(target=flip, daemon=True).start()
# On a busy machine one thread may have long turns: it goes on until the other path was tried often enough.
refused, end = 0, time.monotonic() + 20
while refused < 500 and time.monotonic() < end:
    fd = libc.open(path, 0)
    refused += fd < 0
    if fd >= 0:
        text = os.read(fd, 4096)
        os.close(fd)
        if b"# " in text:
            print(text)
            break
done = True
