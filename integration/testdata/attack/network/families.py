"""Opens sockets of every family but unix, IP and routing netlink, and of every type."""
import socket

print("started", flush=True)
for family in range(3, 64):
    for kind in (1, 2, 3, 4, 5, 10):
        for protocol in (0, 1, 4, 9, 12, 15, 16):
            if family == 10 or family == 16 and protocol == 0:
                continue
            try:
                socket.socket(family, kind, protocol).close()
                print("reached a socket of family", family, "type", kind, "protocol", protocol)
            except OSError:
                pass
