"""Reads the log of the kernel, by its nodes and by its call. argv: none."""
import ctypes
import os

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
text = ctypes.create_string_buffer(1 << 20)
n = libc.klogctl(3, text, len(text))
print(n, ctypes.get_errno(), text.raw[max(0, n - 8192):max(0, n)])
for path in ("/dev/kmsg", "/proc/kmsg"):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        for _ in range(100000):
            line = os.read(fd, 8192)
            if b"psb-attack" in line:
                print(line)
    except OSError as e:
        print(path, e.strerror)
