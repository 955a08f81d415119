"""Sends datagrams in every way to send one. What comes somewhere says how. argv: hosts, then their port."""
import ctypes
import socket
import struct
import sys

print("started", flush=True)
*hosts, port = sys.argv[1:]
port = int(port)
libc = ctypes.CDLL(None, use_errno=True)


def told(way, act):
    try:
        r = act(("%s\n" % way).encode())
        print(way, r if r is None or r >= 0 else ctypes.get_errno())
    except OSError as e:
        print(way, e.strerror)


for host in hosts:
    try:
        family, _, _, _, to = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    except OSError as e:
        print(host, e.strerror)
        continue
    s = socket.socket(family, socket.SOCK_DGRAM)
    raw = struct.pack("=HH", family, socket.htons(port)) + (socket.inet_aton(to[0]) + bytes(8) if family == socket.AF_INET else bytes(4) + socket.inet_pton(family, to[0]) + bytes(4))

    def many(text):
        room = ctypes.create_string_buffer(text, len(text))
        name = ctypes.create_string_buffer(raw, len(raw))
        part = (ctypes.c_size_t * 2)(ctypes.addressof(room), len(text))
        message = (ctypes.c_size_t * 8)(ctypes.addressof(name), len(raw), ctypes.addressof(part), 1, 0, 0, 0, 0)
        return libc.sendmmsg(s.fileno(), message, 1, 0)

    told("sendto " + host, lambda text: s.sendto(text, to))
    told("sendmsg " + host, lambda text: s.sendmsg([text], [], 0, to))
    told("sendmmsg " + host, many)
    c = socket.socket(family, socket.SOCK_DGRAM)
    told("connect " + host, lambda text: c.connect(to))
    told("send " + host, lambda text: c.send(text))
    told("sendto while connected " + host, lambda text: c.sendto(text, to))
# A socket that has a way to one place is asked to go to another.
if len(hosts) > 1:
    first, second = ((h, port) for h in hosts[:2])
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    told("first", lambda text: s.connect(first))
    told("first", lambda text: s.send(text))
    told("aside " + second[0], lambda text: s.sendto(text, second))
    told("turned", lambda text: s.connect(second))
    told("turned " + second[0], lambda text: s.send(text))
