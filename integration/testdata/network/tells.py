"""Asks the socket of an allowed connection for the addresses of its network. argv: the host and its port."""
import array
import fcntl
import socket
import struct
import sys

print("started", flush=True)
c = socket.create_connection((sys.argv[1], int(sys.argv[2])), 20)
room = bytearray(40 * 64)
names = array.array("B", bytes(len(room)))
try:
    n = struct.unpack("iL", fcntl.ioctl(c, 0x8912, struct.pack("iL", len(room), names.buffer_info()[0])))[0]  # SIOCGIFCONF
    text = names.tobytes()
    for at in range(0, n, 40):
        print(text[at:at + 16].split(b"\0")[0].decode(), socket.inet_ntoa(text[at + 20:at + 24]))
except OSError as e:
    print("SIOCGIFCONF", e.strerror)
for label in b"lo", b"lo:1", b"eth0":
    for name, number in ("address", 0x8915), ("hardware", 0x8927), ("flags", 0x8913), ("device", 0x8910):
        try:
            print(label, name, fcntl.ioctl(c, number, struct.pack("16s24x", label))[16:24])
        except OSError as e:
            print(label, name, e.strerror)
