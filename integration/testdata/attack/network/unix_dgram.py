"""Sends to a datagram socket of the host in a folder that nothing names, as to a journal. argv: its path."""
import socket
import sys

print("started", flush=True)
for name, act in (("sendto", lambda s: s.sendto(b"hello", sys.argv[1])), ("sendmsg", lambda s: s.sendmsg([b"hello"], [], 0, sys.argv[1]))):
    try:
        print(name, act(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)))
    except OSError as e:
        print(name, e.strerror)
