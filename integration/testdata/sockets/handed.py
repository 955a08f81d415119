"""Connects sockets that a process outside hands over at descriptor 0. argv: a port of the host's loopback, an abstract name of the host."""
import errno
import socket
import struct
import sys

print("started", flush=True)
with socket.socket(fileno=0) as outside:
    for address in ("127.0.0.1", int(sys.argv[1])), "\0" + sys.argv[2]:
        _, ((_, _, fd),), _, _ = outside.recvmsg(1, socket.CMSG_LEN(4))
        with socket.socket(fileno=struct.unpack("i", fd)[0]) as s:
            print(errno.errorcode.get(s.connect_ex(address), "visited"), flush=True)
