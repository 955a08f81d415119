"""Takes another process over: stops its own child and reads its registers. argv: the file that is made when it worked."""
import os
import signal
import sys

print("started", flush=True)
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
TRACEME, GETREGS, ATTACH, SEIZE = 0, 12, 16, 0x4206
pid = os.fork()
if pid == 0:
    ok = libc.ptrace(TRACEME, 0, None, None)
    os.kill(os.getpid(), signal.SIGSTOP) if ok == 0 else os._exit(1)
    os._exit(0)
os.waitpid(pid, os.WUNTRACED)
registers = ctypes.create_string_buffer(1024)
if libc.ptrace(GETREGS, pid, None, ctypes.addressof(registers)) == 0:
    open(sys.argv[1], "w").write("traced\n")
else:
    print("ptrace", os.strerror(ctypes.get_errno()))
try:
    os.kill(pid, signal.SIGKILL)
except OSError:
    pass
