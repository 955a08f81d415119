"""Looks names up, which sorts their addresses by connecting without sending; then connects without sending itself, and with."""
import socket

for h in "localhost", "rr.test":
    print(len(socket.getaddrinfo(h, "https", type=socket.SOCK_STREAM)) > 0)
try:
    socket.getaddrinfo("gone.test", 443)
except socket.gaierror:
    print("gone")
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.connect(("198.51.100.8", 80))
v = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
v.connect(("198.51.100.9", 80))
print(v.send(b"q"))
