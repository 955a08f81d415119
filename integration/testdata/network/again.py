"""Asks a connect again on a socket that is still connecting, and that waits by now; then it goes to another place, and stays.
argv: a place that never answers, and one that does."""
import errno
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
threading.Thread(target=s.connect_ex, args=(silent,), daemon=True).start()
time.sleep(0.3)
print("the others go on", socket.create_connection(there, 10).recv(4).decode(), flush=True)
print("ready", flush=True)
time.sleep(1000)
