"""Makes servers, and says of each whether it came to be. argv: unix:PATH, udp:HOST:PORT, tcp:HOST:PORT."""
import socket
import sys

print("started", flush=True)
kept = []
for place in sys.argv[1:]:
    kind, _, at = place.partition(":")
    s = socket.socket(socket.AF_UNIX if kind == "unix" else socket.AF_INET, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
    try:
        if kind == "unix":
            s.bind(at)
        else:
            host, _, port = at.partition(":")
            s.bind((host, int(port)))
            if kind == "tcp":
                s.listen(5)
        print(place, "serves", flush=True)
    except OSError:
        print(place, "is barred", flush=True)
    kept.append(s)
