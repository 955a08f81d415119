"""Opens a name in memory that another thread flips all the time. argv: a file it may read and one it may not, how often."""
import ctypes
import os
import sys
import threading
import time

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
names = [os.path.abspath(p).encode() for p in sys.argv[1:3]]
room = max(map(len, names)) + 1
good, bad = (n.ljust(room, b"\0") for n in names)
name = ctypes.create_string_buffer(good, room)
stop, seen = [], set()


def flip():
    while not stop:
        ctypes.memmove(name, bad, room)
        ctypes.memmove(name, good, room)


t = threading.Thread(target=flip)
t.start()
for _ in range(int(sys.argv[3])):
    fd = libc.open(name, os.O_RDONLY)
    if fd >= 0:
        seen.add(os.read(fd, 100))
        os.close(fd)
    time.sleep(0.0001)  # the other thread has to get its turn
stop.append(True)
t.join()
print(*(text.decode() for text in seen))
