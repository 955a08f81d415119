"""Has connect put off to the first bytes it sends, by an option of the socket. argv: a port of the host's loopback."""
import socket
import sys

print("started", flush=True)
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1")):
    try:
        s = socket.socket(family)
        s.settimeout(5)
        s.setsockopt(socket.IPPROTO_TCP, 30, 1)  # TCP_FASTOPEN_CONNECT
        s.connect((address, int(sys.argv[1])))
        print("sent", s.send(b"hello"))
    except OSError as e:
        print(address, e.strerror)
