"""Connects to a port by every spelling of an address. What reaches it says how first. argv: the port, spellings."""
import socket
import sys

print("started", flush=True)
for host in sys.argv[2:]:
    try:
        for family, kind, _, _, address in socket.getaddrinfo(host, int(sys.argv[1]), type=socket.SOCK_STREAM):
            s = socket.socket(family, kind)
            s.settimeout(5)
            try:
                s.connect(address)
                s.sendall(host.encode() + b"\n")
                print("connected", host, address)
            except OSError as e:
                print(host, address, e.strerror)
            s.close()
    except socket.gaierror as e:
        print(host, e.strerror)
