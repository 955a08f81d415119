"""Connects to sockets of the host that stand where it may read or write, and through a link. argv: their paths."""
import socket
import sys

print("started", flush=True)
for path in sys.argv[1:]:
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        s = socket.socket(socket.AF_UNIX, kind)
        try:
            s.connect(path)
            print("connected", path)
        except OSError as e:
            print(path, e.strerror)
