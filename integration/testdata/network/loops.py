"""Connects again and again, in four ways, and waits for a word after each stage. argv: the host, its port, a port nobody listens at, how often in each stage."""
import errno
import socket
import struct
import sys

print("started", flush=True)
host, port, closed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
to = socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_STREAM)[0][4]
reset = struct.pack("ii", 1, 0)
for stage in sys.argv[4:]:
    counts = {}
    for n in range(int(stage)):
        s = socket.socket()
        way = n % 8
        if way == 5:  # does not wait for the answer
            s.setblocking(False)
            r = s.connect_ex(to)
            r = 0 if r == errno.EINPROGRESS else r
        elif way == 6:  # is refused by the host
            r = s.connect_ex((to[0], closed))
        elif way == 7:  # is refused by psb
            r = s.connect_ex((to[0], 9))
        else:
            r = s.connect_ex(to)
        counts[r] = counts.get(r, 0) + 1
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        s.close()
    print("stage", stage, sorted((errno.errorcode.get(k, "fine"), v) for k, v in counts.items()), flush=True)
    sys.stdin.readline()
