"""Looks names up side by side, then connects to one that is well. argv: that name and its port, names."""
import concurrent.futures
import socket
import sys

print("started", flush=True)


def ask(name):
    try:
        return name, "found %d" % len({a[4][0] for a in socket.getaddrinfo(name, 80, type=socket.SOCK_STREAM)})
    except socket.gaierror as e:
        return name, "gaierror"


with concurrent.futures.ThreadPoolExecutor(40) as pool:
    for name, found in pool.map(ask, sys.argv[3:]):
        print(name, found, flush=True)
with socket.create_connection((sys.argv[1], int(sys.argv[2])), 20) as c:
    print(c.makefile().readline().split()[0])
