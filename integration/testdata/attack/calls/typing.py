"""Types a line into a terminal: its own when it can make one, or the one it stands on. argv: "own" or "here", the line."""
import ctypes
import os
import sys
import termios

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
fd = 0
if sys.argv[1] == "own":
    try:
        master, fd = os.openpty()
        os.setsid()
        print("controls it", libc.ioctl(fd, termios.TIOCSCTTY, 0))
    except OSError as e:
        print("a terminal", e.strerror)
for request in (termios.TIOCSTI, 1 << 32 | termios.TIOCSTI):
    for c in sys.argv[2].encode() + b"\n":
        if libc.syscall(16, ctypes.c_long(fd), ctypes.c_long(request), bytes([c])) < 0:
            print("TIOCSTI", os.strerror(ctypes.get_errno()))
            break
for name, request, arg in (("TIOCLINUX", 0x541C, b"\3" + bytes(15)), ("TIOCSETD", 0x5423, bytes(4))):
    if libc.ioctl(fd, ctypes.c_ulong(request), arg) < 0:
        print(name, os.strerror(ctypes.get_errno()))
    else:
        print("reached", name)
if sys.argv[1] == "own" and fd > 0:
    os.set_blocking(fd, False)
    try:
        print("reached the input of a terminal:", os.read(fd, 100).decode())
    except OSError as e:
        print("read", e.strerror)
