"""Lowers the priority of the whole process group it is in, for the processor and for disks, the group by number and as 0.
Never by user: as root, without psb, that would be every process of the machine."""
import ctypes
import os
import platform

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
ioprio_set = {"x86_64": 251, "aarch64": 30}[platform.machine()]
for who in {0, os.getpgrp()}:
    try:
        os.setpriority(os.PRIO_PGRP, who, 15)
    except OSError as e:
        print("setpriority", who, e.strerror)
    if libc.syscall(ioprio_set, 2, who, 3 << 13) != 0:
        print("ioprio_set", who, os.strerror(ctypes.get_errno()))
