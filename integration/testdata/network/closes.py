"""Listens everywhere at a port, for one visitor only. argv: the port."""
import socket
import sys

print("started", flush=True)
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("0.0.0.0", int(sys.argv[1])))
s.listen(5)
print("ready", flush=True)
visitor = s.accept()[0]
s.close()
visitor.sendall(b"box\n")
visitor.recv(1)
visitor.close()
sys.stdin.read()
