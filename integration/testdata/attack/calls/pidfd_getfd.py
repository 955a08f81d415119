"""Takes a descriptor out of a child that opened a file of its own."""
import ctypes
import os
import signal

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
r, w = os.pipe()
pid = os.fork()
if pid == 0:
    signal.alarm(20)
    fd = os.memfd_create("own")
    os.write(fd, b"the child's own text")
    os.dup2(fd, 90)
    os.write(w, b"x")
    signal.pause()
os.read(r, 1)
fd = libc.syscall(438, libc.syscall(434, pid, 0), 90, 0)
if fd < 0:
    print("pidfd_getfd", os.strerror(ctypes.get_errno()))
else:
    print("reached a descriptor of a process:", os.pread(fd, 64, 0).decode())
os.kill(pid, signal.SIGKILL)
