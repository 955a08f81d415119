"""Binds to any free port, loses it by a connect that fails, and listens at a port of its own choice. argv: ports."""
import socket
import sys

print("started", flush=True)
kept = []
for port in map(int, sys.argv[1:]):
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    print("connect", s.connect_ex(("127.0.0.1", 1)))
    try:
        s.bind(("127.0.0.1", port))
        s.listen(5)
        print("listens at", s.getsockname())
    except OSError as e:
        print(port, e.strerror)
    kept.append(s)
print("ready", flush=True)
sys.stdin.read()
