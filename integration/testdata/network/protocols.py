"""Connects and sends by protocols beside TCP and UDP. What reaches a place says how. argv: a bad host, its port, its UDP port."""
import socket
import sys

print("started", flush=True)
host, port, udp = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for name, family, kind, protocol in (("multipath", socket.AF_INET, socket.SOCK_STREAM, 262), ("multipath of IPv6", socket.AF_INET6, socket.SOCK_STREAM, 262),
                                     ("SCTP", socket.AF_INET, socket.SOCK_STREAM, 132), ("SCTP packets", socket.AF_INET, socket.SOCK_SEQPACKET, 132),
                                     ("DCCP", socket.AF_INET, socket.SOCK_DCCP if hasattr(socket, "SOCK_DCCP") else 6, 33), ("TCP", socket.AF_INET, socket.SOCK_STREAM, 6),
                                     ("UDP-Lite", socket.AF_INET, socket.SOCK_DGRAM, 136), ("ping", socket.AF_INET, socket.SOCK_DGRAM, 1),
                                     ("raw", socket.AF_INET, socket.SOCK_RAW, 17), ("vsock", 40, socket.SOCK_STREAM, 0), ("packet", 17, socket.SOCK_DGRAM, 0)):
    try:
        s = socket.socket(family, kind, protocol)
    except OSError as e:
        print(name, "socket", e.strerror)
        continue
    print("a socket:", name)
    try:
        s.settimeout(5)
        if kind == socket.SOCK_DGRAM:
            print(s.sendto(name.encode(), (host, udp)))
        elif family in (17, 40) or kind == socket.SOCK_RAW:
            continue
        else:
            s.connect(("::ffff:" + host if family == socket.AF_INET6 else host, port))
            s.sendall(name.encode() + b"\n")
    except OSError as e:
        print(name, e.strerror)
