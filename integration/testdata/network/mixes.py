"""Uses what it was told of one name for something else. argv: two ruled hosts with their ports, a host that has the first one's address, real addresses."""
import socket
import sys

print("started", flush=True)
a, a_port, b, b_port, shared = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5]


def told(host):
    try:
        return sorted({x[4][0] for x in socket.getaddrinfo(host, 1, socket.AF_INET)})
    except OSError as e:
        print(host, e)
        return []


def go(way, host, port):
    try:
        s = socket.create_connection((host, port), 5)
        s.sendall(way.encode() + b"\n")
        s.close()
        print("connected", way)
    except OSError as e:
        print(way, e.strerror)


go("first", a, a_port)
go("second", b, b_port)
for address in told(a):
    go("first's address, second's port", address, b_port)
    go("first's address, another port", address, 9999)
for address in told(b):
    go("second's address, first's port", address, a_port)
for address in told(shared):
    go("a host with the first one's address", address, a_port)
for address in sys.argv[6:]:
    go("real address", address, a_port)
    go("real address, second's port", address, b_port)
