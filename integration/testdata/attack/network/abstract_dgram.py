"""Sends to an abstract datagram socket of the host, and connects to it. argv: its name."""
import socket
import sys

print("started", flush=True)
for name, act in (("sendto", lambda s: s.sendto(b"hello", "\0" + sys.argv[1])),
                  ("connect", lambda s: (s.connect("\0" + sys.argv[1]), s.send(b"hello")))):
    try:
        print(name, act(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)))
    except OSError as e:
        print(name, e.strerror)
