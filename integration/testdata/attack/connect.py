"""Connects to sockets of the host. argv: a TCP port on the loopback, an abstract name, the path of a socket."""
import socket
import sys

print("started", flush=True)
port, abstract, path = int(sys.argv[1]), "\0" + sys.argv[2], sys.argv[3]
for family, kind, address in (
    (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", port)),
    (socket.AF_INET, socket.SOCK_STREAM, ("0.0.0.0", port)),
    (socket.AF_INET6, socket.SOCK_STREAM, ("::ffff:127.0.0.1", port)),
    (socket.AF_UNIX, socket.SOCK_STREAM, abstract),
    (socket.AF_UNIX, socket.SOCK_STREAM, path),
):
    try:
        s = socket.socket(family, kind)
        s.settimeout(5)
        s.connect(address)
        print("connected", address)
    except OSError as e:
        print(address, e)
