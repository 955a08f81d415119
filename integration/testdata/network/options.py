"""What a program has set on a socket is still so once it is connected. argv: a host and its port."""
import fcntl
import os
import socket
import struct
import sys

to = socket.getaddrinfo(sys.argv[1], int(sys.argv[2]), socket.AF_INET, socket.SOCK_STREAM)[0][4]
s = socket.socket()
os.set_inheritable(s.fileno(), True)
for level, option, value in ((socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1), (socket.SOL_SOCKET, socket.SO_RCVBUF, 65536),
                             (socket.SOL_SOCKET, socket.SO_SNDBUF, 65536), (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 77),
                             (socket.SOL_SOCKET, socket.SO_RCVTIMEO, None), (socket.IPPROTO_IP, socket.IP_TOS, 0x10)):
    if value is None:
        s.setsockopt(level, option, struct.pack("ll", 7, 0))
    else:
        s.setsockopt(level, option, value)
print(s.connect_ex(to), s.connect_ex(to) != 0)
print(os.get_inheritable(s.fileno()), fcntl.fcntl(s.fileno(), fcntl.F_GETFL) & os.O_NONBLOCK)
for name in "SO_KEEPALIVE", "SO_RCVBUF", "SO_SNDBUF", "SO_TYPE", "SO_DOMAIN", "SO_PROTOCOL", "SO_ERROR":
    print(name, s.getsockopt(socket.SOL_SOCKET, getattr(socket, name)))
print("nodelay", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0, s.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE), s.getsockopt(socket.IPPROTO_IP, socket.IP_TOS))
print(s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, 16)[:8])
s.sendall(b"line\n")
f = s.makefile()
print(f.readline().split()[0], f.readline().strip())
pid = os.fork()
if pid == 0:
    s.sendall(b"from the child\n")
    os._exit(0)
os.waitpid(pid, 0)
print(f.readline().strip())
n = socket.socket()
n.setblocking(False)
print(n.connect_ex(to) in (0, 115), fcntl.fcntl(n.fileno(), fcntl.F_GETFL) & os.O_NONBLOCK != 0, os.get_inheritable(n.fileno()))
