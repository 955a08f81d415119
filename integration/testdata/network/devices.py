"""Binds sockets to a device and sets what else steers a way, then connects and sends. argv: a bad host, its port, its UDP port."""
import socket
import sys

print("started", flush=True)
tcp, udp = (sys.argv[1], int(sys.argv[2])), (sys.argv[1], int(sys.argv[3]))
options = {"device": (socket.SOL_SOCKET, 25, b"lo\0"), "interface": (socket.SOL_SOCKET, 62, 1), "unicast": (socket.IPPROTO_IP, 50, socket.htonl(1)),
           "mark": (socket.SOL_SOCKET, 36, 7), "transparent": (socket.IPPROTO_IP, 19, 1), "freebind": (socket.IPPROTO_IP, 15, 1),
           "routeless": (socket.SOL_SOCKET, 5, 1), "broadcast": (socket.SOL_SOCKET, 6, 1)}
for name, option in options.items():
    for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
        s = socket.socket(socket.AF_INET, kind)
        s.settimeout(5)
        try:
            s.setsockopt(*option)
        except OSError as e:
            print(name, "option", e.strerror)
        if name == "freebind":
            s.bind((sys.argv[1], 0))
        try:
            if kind == socket.SOCK_STREAM:
                s.connect(tcp)
                s.sendall(name.encode() + b"\n")
            else:
                s.sendto(name.encode(), udp)
            print("sent", name)
        except OSError as e:
            print(name, e.strerror)
        s.close()
