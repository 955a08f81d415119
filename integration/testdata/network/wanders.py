"""Connects to places in turn and says how each went. argv: hosts with ports."""
import errno
import socket
import sys

for place in sys.argv[1:]:
    host, port = place.rsplit(":", 1)
    try:
        with socket.create_connection((host.strip("[]"), int(port)), 20) as c:
            c.sendall(b"wanders\n")
            print(place, "connected")
    except socket.gaierror:
        print(place, "no such name")
    except OSError as e:
        print(place, errno.errorcode.get(e.errno, e))
