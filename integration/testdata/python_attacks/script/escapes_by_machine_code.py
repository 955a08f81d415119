# With ctypes granted every Python rule can be passed by; files, programs, processes and hosts are still the kernel's.
#: read *
#: shell *
#: write *
#: signal *
#: connect *
#= file left visitor
#| [python.import]
#| "ctypes" = true
#| "socket" = true
#| [python.call]
#| "native" = true
import ctypes
import os
import socket
from tries import attempt, canary, cat, place, port, victim

libc = ctypes.CDLL(None, use_errno=True)


def read():
    fd = libc.open(canary.encode(), 0)
    b = ctypes.create_string_buffer(100)
    libc.read(fd, b, 100)
    print(b.value.decode())
    return 1 // (fd >= 0)


def write():
    fd = libc.open((place + "/left").encode(), os.O_CREAT | os.O_WRONLY, 0o644)
    return 1 // (fd >= 0)


def connect():
    s = libc.socket(socket.AF_INET, socket.SOCK_STREAM, 0)
    address = (2).to_bytes(2, "little") + port.to_bytes(2, "big") + bytes([127, 0, 0, 1]) + bytes(8)
    return 1 // (libc.connect(s, address, 16) == 0)


attempt("read", read)
attempt("shell", lambda: 1 // (libc.system(cat.encode()) == 0))
attempt("write", write)
attempt("signal", lambda: 1 // (libc.kill(victim, 0) == 0))
attempt("connect", connect)
attempt("pythonapi", lambda: ctypes.pythonapi.PyRun_SimpleString(("print(open(%r).read())" % canary).encode()))
