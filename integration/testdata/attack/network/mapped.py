"""Connects to the host's loopback by every spelling of it. argv: a port."""
import socket
import sys

print("started", flush=True)
for host in ("127.0.0.1", "0.0.0.0", "127.1.2.3", "::ffff:127.0.0.1", "::ffff:0.0.0.0", "::ffff:7f00:1", "::"):
    try:
        s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        s.settimeout(5)
        s.connect((host, int(sys.argv[1])))
        print("connected", host)
    except OSError as e:
        print(host, e.strerror)
