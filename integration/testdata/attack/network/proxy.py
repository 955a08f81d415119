"""Forgets the proxy it was told to use, and connects by itself. argv: a port of the host's loopback."""
import os
import socket
import sys

print("started", flush=True)
for name in list(os.environ):
    if "proxy" in name.lower():
        del os.environ[name]
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
    print("connected")
except OSError as e:
    print(e.strerror)
