"""Reads the memory of a child at the place where it drew a number, and compares it with what the child said."""
import ctypes
import os
import signal

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
secret = ctypes.create_string_buffer(b"nothing yet.....")
r, w = os.pipe()
pid = os.fork()
if pid == 0:
    signal.alarm(20)
    secret.value = os.urandom(8).hex().encode()
    os.write(w, secret.raw[:16])
    signal.pause()
    os._exit(0)
told = os.read(r, 16)
text = ctypes.create_string_buffer(16)


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


here, there = Piece(ctypes.addressof(text), 16), Piece(ctypes.addressof(secret), 16)
if libc.syscall(310, pid, ctypes.byref(here), ctypes.c_long(1), ctypes.byref(there), ctypes.c_long(1), ctypes.c_long(0)) < 0:
    print("process_vm_readv", os.strerror(ctypes.get_errno()))
if text.raw == told:
    print("reached the memory of a process")
os.kill(pid, signal.SIGKILL)
