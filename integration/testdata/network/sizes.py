"""Sends datagrams of many sizes, each after the answer to the one before, from one socket, from a connected one and from many. argv: host, port."""
import socket
import sys

to = socket.getaddrinfo(sys.argv[1], int(sys.argv[2]), socket.AF_INET, socket.SOCK_DGRAM)[0][4]
s, c = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
c.connect(to)
for x in s, c:
    x.settimeout(20)
for size in 0, 1, 512, 1472, 1500, 9000, 32768, 65507:
    text = bytes(range(256)) * 256
    s.sendto(text[:size], to)
    got, peer = s.recvfrom(70000)
    c.send(text[:size])
    print(size, got == text[:size], peer == to, c.recv(70000) == text[:size])
try:
    s.sendto(bytes(65508), to)
except OSError as e:
    print(e.strerror)
many = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(30)]
for n, x in enumerate(many):
    x.settimeout(20)
    x.sendto(b"%d" % n, to)
print(*(x.recv(100).decode() for x in many))
s.bind(("", 0)) if s.getsockname()[1] == 0 else None
for n in range(50):
    s.sendto(b"%d" % n, to)
    assert s.recv(100) == b"%d" % n
