"""Fetches from one name four times, each time with a look-up of its own. argv: the name and its port."""
import socket
import sys

for _ in range(4):
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), 20) as c:
        c.sendall(b"word\n")
        print(c.makefile().readlines(1)[0].split()[0])
