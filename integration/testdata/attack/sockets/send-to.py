"""Sends a datagram without connecting to a socket of the host that stands where it may read or write. argv: their paths."""
import socket
import sys

print("started", flush=True)
for path in sys.argv[1:]:
    try:
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"hello", path)
    except OSError as e:
        print(path, e.strerror)
