"""Has so much refused that nobody looks any more, and then does what matters. Datagram sockets send nothing when they connect."""
import ctypes
import socket

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
for port in range(1, 2001):
    try:
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.connect(("198.51.100.1", port))
        s.close()
    except OSError:
        pass
ctypes.set_errno(0)
libc.syscall(250, 0, -4, 0)  # keyctl
print("asked keyctl", ctypes.get_errno())
