"""Sends a datagram to the host's loopback by sendmsg, under each of its spellings. argv: a port."""
import socket
import sys

print("started", flush=True)
for host in ("127.0.0.1", "0.0.0.0", "127.1.2.3", "::ffff:127.0.0.1"):
    address = (host, int(sys.argv[1]))
    try:
        s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
        print(host, s.sendmsg([b"hello"], [], 0, address))
    except OSError as e:
        print(host, e.strerror)
