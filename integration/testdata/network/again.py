"""Asks a connect again on a socket that is still connecting, and that waits by now; then it goes to another place, and stays.
argv: a place that never answers, and one that does."""
import errno
import os
import signal
import socket
import sys
import threading
import time

print("started", flush=True)
silent, there = ((host, int(port)) for host, port in (place.rsplit(":", 1) for place in sys.argv[1:3]))
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, 100)
s.setblocking(False)
print(errno.errorcode[s.connect_ex(silent)], flush=True)
s.setblocking(True)
asks = threading.Thread(target=s.connect_ex, args=(silent,), daemon=True)
asks.start()
connect = {"x86_64": "42", "aarch64": "203"}[os.uname().machine]
for _ in range(1000):  # until the kernel has the call
    with open(f"/proc/self/task/{asks.native_id}/syscall") as f:
        if f.read().split()[0] == connect:
            break
    time.sleep(0.01)
else:
    raise SystemExit("the thread does not connect")
print("the others go on", socket.create_connection(there, 10).recv(4).decode(), flush=True)
print("ready", flush=True)
signal.pause()
