"""Reads which sockets the machine has. argv: none."""
import os

print("started", flush=True)
for name in ("unix", "tcp", "udp"):
    for way in ("/proc/net/", "/proc/self/net/", "/proc/1/net/", "/proc/thread-self/net/"):
        try:
            print(open(way + name).read())
        except OSError as e:
            print(way + name, e.strerror)
