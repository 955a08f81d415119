"""Ends a process through one of its threads and by a signal that is queued. argv: a process id."""
import ctypes
import struct
import sys

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
pid = int(sys.argv[1])
info = ctypes.create_string_buffer(struct.pack("iii", 15, 0, -1), 128)
for name, r in (("tgkill", libc.syscall(234, pid, pid, 15)), ("tkill", libc.syscall(200, pid, 15)), ("rt_sigqueueinfo", libc.syscall(129, pid, 15, info)),
                ("pidfd_send_signal", libc.syscall(424, libc.syscall(434, pid, 0), 15, None, 0))):
    print(name, r, ctypes.get_errno())
