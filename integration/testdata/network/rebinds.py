"""Looks one name up again and again and connects to what it gets. argv: the name, ports. What reaches a place says so."""
import socket
import sys

print("started", flush=True)
for turn in range(10):
    for port in map(int, sys.argv[2:]):
        try:
            for family, kind, _, _, address in socket.getaddrinfo(sys.argv[1], port, type=socket.SOCK_STREAM):
                s = socket.socket(family, kind)
                s.settimeout(5)
                try:
                    s.connect(address)
                    s.sendall(b"turn %d\n" % turn)
                    print("connected", address)
                except OSError as e:
                    print(address, e.strerror)
                s.close()
                try:  # once more to the same address: what stands for the name may by now be another
                    s = socket.create_connection(address[:2], 5)
                    s.sendall(b"again %d\n" % turn)
                    s.close()
                except OSError as e:
                    print(address, e.strerror)
        except socket.gaierror as e:
            print(sys.argv[1], e.strerror)
