"""Waits for visitors at a port of the host. argv: the port."""
import socket
import sys

print("started", flush=True)
doors = []
for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    try:
        s = socket.socket(family)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((host, int(sys.argv[1])))
        s.listen()
        doors.append(s)
    except OSError as e:
        print(host, e.strerror)
print("ready", flush=True)
sys.stdin.read()
