"""Connects with the first bytes it sends. argv: a port of the host's loopback."""
import socket
import sys

print("started", flush=True)
address = ("127.0.0.1", int(sys.argv[1]))
for name, act in (("sendto", lambda s: s.sendto(b"hello", 0x20000000, address)), ("sendmsg", lambda s: s.sendmsg([b"hello"], [], 0x20000000, address)),
                  ("sendto of IPv6", lambda s: s.sendto(b"hello", 0x20000000, ("::ffff:127.0.0.1", address[1])))):
    try:
        s = socket.socket(socket.AF_INET6 if "6" in name else socket.AF_INET)
        s.settimeout(5)
        print(name, act(s))
    except OSError as e:
        print(name, e.strerror)
