"""Connects to a place that never answers, in ways that must not wait for it. argv: the place's host and port."""
import errno
import select
import signal
import socket
import struct
import sys
import threading

print("started", flush=True)
to = socket.getaddrinfo(sys.argv[1], int(sys.argv[2]), socket.AF_INET, socket.SOCK_STREAM)[0][4]


class Alarm(Exception):
    pass


def alarm(*_):
    raise Alarm


signal.signal(signal.SIGALRM, alarm)
s = socket.socket()
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    s.connect(to)
    print("connected")
except Alarm:
    print("interrupted")

s = socket.socket()
s.settimeout(0.3)
try:
    s.connect(to)
    print("connected")
except TimeoutError:
    print("timed out")

s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 300000))
print(errno.errorcode[s.connect_ex(to)])

s = socket.socket()
s.setblocking(False)
print(errno.errorcode[s.connect_ex(to)], select.select([], [s], [], 0.1)[1], errno.errorcode.get(s.connect_ex(to)))

started = threading.Event()


def hang():
    started.set()
    socket.socket().connect(to)


for _ in range(3):
    threading.Thread(target=hang, daemon=True).start()
    started.wait()
    started.clear()
print("the others go on", socket.gethostbyname("localhost"))
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    print("ready", flush=True)
    socket.socket().connect(to)
except KeyboardInterrupt:
    print("interrupted by key", flush=True)
