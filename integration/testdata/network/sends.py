"""Looks one name up again and again and sends to what it gets, from a socket each time and from one that stays. argv: the name and its port."""
import socket
import sys

print("started", flush=True)
stays = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for turn in range(12):
    try:
        for _, _, _, _, to in socket.getaddrinfo(sys.argv[1], int(sys.argv[2]), socket.AF_INET, socket.SOCK_DGRAM):
            for s in socket.socket(socket.AF_INET, socket.SOCK_DGRAM), stays:
                try:
                    print("sent", to, s.sendto(b"turn %d" % turn, to))
                except OSError as e:
                    print(to, e.strerror)
    except socket.gaierror as e:
        print(e.strerror)
