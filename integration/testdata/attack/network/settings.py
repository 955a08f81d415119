"""Changes its network: sets the loopback's state by ioctl, and asks the routing socket for an address."""
import ctypes
import fcntl
import socket
import struct

print("started", flush=True)
print("unshare", ctypes.CDLL(None).unshare(0x50000000))  # user, net: without psb the right to change a network of its own
try:
    fcntl.ioctl(socket.socket(), 0x8914, struct.pack("=16sH22x", b"lo", 0x49))  # SIOCSIFFLAGS: up
    print("reached the state of a device")
except OSError as e:
    print("ioctl", e.strerror)
s = socket.socket(16, 3, 0)
body = struct.pack("=BBBBIHHI", 2, 8, 0, 0, 1, 8, 2, 0x0200000A)  # 10.0.0.2/8 for the first device
s.send(struct.pack("=IHHII", 16 + len(body), 20, 0x605, 1, 0) + body)  # RTM_NEWADDR
error = struct.unpack_from("=i", s.recv(4096), 16)[0]
print("reached a new address" if error == 0 else "no new address", error)
