"""Servers at ports of the moment with clients of their own, then one at a port of its own."""
import socket
import threading

for family, host in (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"):
    s = socket.create_server((host, 0), family=family)
    t = threading.Thread(target=lambda: s.accept()[0].sendall(b"own"))
    t.start()
    print(socket.create_connection(s.getsockname()[:2]).recv(3))
    t.join()
    a, b = (socket.socket(family, socket.SOCK_DGRAM) for _ in range(2))
    a.bind((host, 0))
    b.sendto(b"letter", a.getsockname())
    print(a.recv(10))
l = socket.create_server(("localhost", 0))
socket.create_connection(("localhost", l.getsockname()[1])).close()
srv = socket.create_server(("0.0.0.0", 8765))
srv.close()
