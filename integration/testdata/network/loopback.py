"""Says who is behind ports of the loopback: the host greets, the box says so."""
import errno
import socket
import threading

print("started", flush=True)


def who(host, port):
    try:
        with socket.create_connection((host, port), 20) as c:
            return "host" if c.recv(4) == b"gate" else "box"
    except OSError as e:
        return errno.errorcode.get(e.errno, e)


try:
    own = socket.create_server(("127.0.0.1", 7000))
    t = threading.Thread(target=lambda: own.accept()[0].sendall(b"box!"))
    t.start()
    print(who("127.0.0.1", 7000))
    t.join()
    own.close()
    print("afterwards", who("127.0.0.1", 7000))
except OSError:
    print("box in use")
for host, port in ("127.0.0.1", 7000), ("127.0.0.1", 7001), ("localhost", 7001), ("::1", 7002), ("127.0.0.1", 7003), ("127.0.0.2", 7004):
    print("%s:%d" % (host, port), who(host, port))
for port in 7005, 7006:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(1)
    try:
        s.sendto(b"letter", ("127.0.0.1", port))
        print("letter", port, "host" if s.recv(10) == b"letter" else "?")
    except OSError:
        print("letter", port, "nobody")
