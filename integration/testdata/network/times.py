"""Asks servers for something in one datagram, in every way to send one. argv: two hosts and their port."""
import ctypes
import socket
import struct
import sys

first, second, port = sys.argv[1], sys.argv[2], int(sys.argv[3])


def address(name):
    return socket.getaddrinfo(name, port, socket.AF_INET, socket.SOCK_DGRAM)[0][4]


def fresh():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(20)
    return s


s, to = fresh(), address(first)
s.sendto(b"sendto", to)
text, peer = s.recvfrom(100)
print(text.decode(), peer == to)

s.sendmsg([b"send", b"msg"], [], 0, to)
text, _, _, peer = s.recvmsg(100)
print(text.decode(), peer == to)

s = fresh()
s.connect(to)
s.send(b"connected send")
print(s.recv(100).decode(), s.getpeername() == to)
s.sendmsg([b"connected sendmsg"])
print(s.recv(100).decode())


class Message(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("name_length", ctypes.c_uint32), ("parts", ctypes.c_void_p), ("count", ctypes.c_size_t),
                ("control", ctypes.c_void_p), ("control_length", ctypes.c_size_t), ("flags", ctypes.c_size_t), ("sent", ctypes.c_size_t)]


def raw(to):
    return struct.pack("=HH", socket.AF_INET, socket.htons(to[1])) + socket.inet_aton(to[0]) + bytes(8)


libc = ctypes.CDLL(None, use_errno=True)
places = [to, address(second)]
names, texts = [raw(p) for p in places], [ctypes.create_string_buffer(b"sendmmsg %d" % n, 10) for n in range(2)]
parts = [(ctypes.c_size_t * 2)(ctypes.addressof(t), 10) for t in texts]
messages = (Message * 2)(*[Message(names[n], 16, ctypes.addressof(parts[n]), 1, None, 0, 0, 0) for n in range(2)])
s = fresh()
print("messages", libc.sendmmsg(s.fileno(), messages, 2, 0))
got = sorted((s.recvfrom(100) for _ in range(2)), key=lambda g: g[0])
print([(text.decode(), peer == places[n]) for n, (text, peer) in enumerate(got)])
