"""Gives a socket that is connected to one of the host's a name of its own. argv: the abstract name of the other, the own one."""
import socket
import sys

print("started", flush=True)
s = socket.socket(socket.AF_UNIX)
s.connect("\0" + sys.argv[1])
print(s.recv(4).decode())
try:
    s.bind("\0" + sys.argv[2])
    print("bound to", s.getsockname())
    s.listen(1)
except OSError as e:
    print(e.strerror)
print("ready", flush=True)
sys.stdin.read()
