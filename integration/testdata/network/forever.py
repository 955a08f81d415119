"""Connects from four threads and a child until it is ended. argv: the host, its port, a word for its arguments."""
import os
import socket
import struct
import sys
import threading

print("started", flush=True)


def go():
    while True:
        try:
            s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 20)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            s.close()
        except OSError:
            pass


for _ in range(4):
    threading.Thread(target=go, daemon=True).start()
if os.fork() == 0:
    os.setsid()
go()
