"""Listens at ports, and says how that went; then connects to itself there. argv: addresses with ports."""
import errno
import socket
import sys

print("started", flush=True)
kept = []
for place in sys.argv[1:]:
    host, port = place.rsplit(":", 1)
    s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        s.bind((host, int(port)))
        s.listen(10)
        c = socket.create_connection(s.getsockname()[:2], 5)
        a, peer = s.accept()
        a.sendall(b"hello")
        kept.append(s)
        print(place, "serves", c.recv(5).decode(), peer[:2] == c.getsockname()[:2])
    except OSError as e:
        print(place, errno.errorcode[e.errno])
print("ready", flush=True)
sys.stdin.read()
