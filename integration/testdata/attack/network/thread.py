"""Connects to the host's loopback from a thread, from a child in a session of its own and from a grandchild. argv: a port."""
import os
import socket
import sys
import threading

print("started", flush=True)


def connect(who):
    try:
        s = socket.socket()
        s.settimeout(5)
        s.connect(("127.0.0.1", int(sys.argv[1])))
        print(who, "connected", flush=True)
    except OSError as e:
        print(who, e.strerror, flush=True)


t = threading.Thread(target=connect, args=("thread",))
t.start()
t.join()
if os.fork() == 0:
    os.setsid()
    connect("child")
    if os.fork() == 0:
        connect("grandchild")
        os._exit(0)
    os.wait()
    os._exit(0)
os.wait()
