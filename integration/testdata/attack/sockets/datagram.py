"""Connects a datagram socket to one of the host that stands where it may read or write, and sends. argv: their paths."""
import socket
import sys

print("started", flush=True)
for path in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        s.connect(path)
        s.send(b"hello")
    except OSError as e:
        print(path, e.strerror)
