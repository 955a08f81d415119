"""Makes a child in each kind of new namespace, by clone with its flags in a register."""
import ctypes
import os
import signal

print("started", flush=True)
libc = ctypes.PyDLL(None, use_errno=True)  # the child of a thread must not wait for the interpreter's lock
KINDS = {"user": 0, "mnt": 0x20000, "uts": 0x4000000, "ipc": 0x8000000, "net": 0x40000000, "cgroup": 0x2000000, "pid": 0x20000000}


def make(kind):
    flags = 0x10000000 | KINDS[kind]  # a new user namespace gives the right to all the others
    before = os.readlink("/proc/self/ns/" + kind)
    pid = libc.syscall(56, ctypes.c_long(flags | 17), None, None, None, None)  # 17: SIGCHLD
    while pid == 0:
        libc.pause()
    if pid < 0:
        return print(kind, os.strerror(ctypes.get_errno()), flush=True)
    if os.readlink(f"/proc/{pid}/ns/{kind}") != before:
        print("reached a child in a new namespace:", kind, flush=True)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


for kind in KINDS:
    make(kind)
