"""Opens raw and packet sockets; who may not goes into a network of its own, where it may."""
import ctypes
import socket

print("started", flush=True)
print("unshare", ctypes.CDLL(None).unshare(0x50000000))  # user, net
for name, args in (("raw ICMP", (2, 3, 1)), ("raw", (2, 3, 255)), ("raw TCP", (2, 3, 6)), ("raw IPv6", (10, 3, 58)), ("packet", (17, 3, 0x300)),
                   ("cooked packet", (17, 2, 0x300)), ("old packet", (2, 10, 0x300))):
    try:
        socket.socket(*args)
        print("reached a socket:", name)
    except OSError as e:
        print(name, e.strerror)
