"""Connects to an address in memory whose host and port two threads flip. argv: seconds, a good host and a bad one, a good port and a bad one."""
import ctypes
import errno
import socket
import struct
import sys
import threading
import time

print("started", flush=True)
seconds, good, bad, good_port, bad_port = float(sys.argv[1]), *map(socket.gethostbyname, sys.argv[2:4]), *map(int, sys.argv[4:])
libc = ctypes.CDLL(None, use_errno=True)
to = ctypes.create_string_buffer(struct.pack("=HH", 2, socket.htons(good_port)) + socket.inet_aton(good) + bytes(8), 16)
stop = []


def flip(at, first, second):
    where = ctypes.addressof(to) + at
    while not stop:
        ctypes.memmove(where, first, len(first))
        time.sleep(0)
        ctypes.memmove(where, second, len(second))
        time.sleep(0)


threads = [threading.Thread(target=flip, args=(4, socket.inet_aton(bad), socket.inet_aton(good))),
           threading.Thread(target=flip, args=(2, struct.pack("!H", bad_port), struct.pack("!H", good_port)))]
for t in threads:
    t.start()
counts = {"connected": 0, "refused": 0, "other": 0}
end = time.monotonic() + seconds
while time.monotonic() < end:
    s = socket.socket()
    if libc.connect(s.fileno(), to, 16) == 0:
        counts["connected"] += 1
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    else:
        counts["refused" if ctypes.get_errno() == errno.EACCES else "other"] += 1
    s.close()
    time.sleep(0.0002)
stop.append(True)
for t in threads:
    t.join()
print(*("%s %d" % c for c in counts.items()))
