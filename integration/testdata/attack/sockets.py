"""Uses the socket that descriptor 0 or 1 is: dissolves it, connects it to another door of the host, reads what stands there.
argv: which descriptor, the family (inet or unix), the kind (stream or dgram), the other door's port or name."""
import ctypes
import os
import socket
import struct
import sys

fd, family, kind, door = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
os.write(2, b"started\n")
s = socket.socket(getattr(socket, "AF_" + family.upper()), getattr(socket, "SOCK_" + kind.upper()), fileno=os.dup(fd))
s.settimeout(5)
if family == "inet":
    libc = ctypes.CDLL(None, use_errno=True)
    libc.connect(fd, struct.pack("=H14x", socket.AF_UNSPEC), 16)
    where = ("127.0.0.1", int(door))
elif kind == "dgram":
    where = door
try:
    if family == "unix" and kind == "stream":
        s.send(b"hello")
    else:
        s.connect(where)
        s.send(b"hello")
    os.write(2, b"sent\n")
except OSError as e:
    os.write(2, (str(e) + "\n").encode())
