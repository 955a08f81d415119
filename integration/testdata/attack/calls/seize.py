"""Takes a child over by the request of ptrace that does not stop it, and reads a word of it."""
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
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
if libc.ptrace(0x4206, pid, None, None) < 0:  # PTRACE_SEIZE
    print("ptrace", os.strerror(ctypes.get_errno()))
else:
    libc.ptrace(0x4207, pid, None, None)  # PTRACE_INTERRUPT
    os.waitpid(pid, os.WUNTRACED)
word = libc.ptrace(1, pid, ctypes.addressof(secret), None)  # PTRACE_PEEKTEXT
if ctypes.c_ulong(word).value.to_bytes(8, "little") == told[:8]:
    print("reached the memory of a process")
os.kill(pid, signal.SIGKILL)
