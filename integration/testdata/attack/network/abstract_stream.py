"""Connects to an abstract stream socket of the host, as nobody and under a name of its own. argv: the socket's name."""
import socket
import sys

print("started", flush=True)
for own in (None, "\0" + sys.argv[1] + "-own"):
    try:
        s = socket.socket(socket.AF_UNIX)
        if own:
            s.bind(own)
        s.connect("\0" + sys.argv[1])
        print("connected")
    except OSError as e:
        print(e.strerror)
