"""Connects to an address in memory that another thread flips all the time. argv: a good address and a bad one, a port, how often."""
import ctypes
import socket
import struct
import sys
import threading
import time

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
good, bad = (struct.pack("=HH", 2, socket.htons(int(sys.argv[3]))) + socket.inet_aton(a) + bytes(8) for a in sys.argv[1:3])
address = ctypes.create_string_buffer(good, 16)
stop = []


def flip():
    while not stop:
        ctypes.memmove(address, bad, 16)
        ctypes.memmove(address, good, 16)


t = threading.Thread(target=flip)
t.start()
for _ in range(int(sys.argv[4])):
    s = socket.socket()
    libc.connect(s.fileno(), address, 16)
    s.close()
    time.sleep(0.0001)  # the other thread has to get its turn: where the connect ends at once it would never have Python's lock
stop.append(True)
t.join()
