"""Connects to a socket. argv: its path."""
import socket
import sys

s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"came\n")
