"""Connects to servers of the host and sends a word. argv: a TCP port on the loopback, a UDP port there, the path of a unix socket."""
import socket
import sys

print("started", flush=True)
tcp, udp, path = sys.argv[1:4]
for family, kind, address in ((socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", int(tcp))), (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", int(udp))),
                              (socket.AF_UNIX, socket.SOCK_STREAM, path)):
    try:
        with socket.socket(family, kind) as s:
            s.connect(address)
            s.sendall(b"hello")
    except OSError as e:
        print(address, e.strerror)
