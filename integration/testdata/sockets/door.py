"""Tries to connect to a socket of the host, the ways a path can be said. argv: the socket's folder (relative) and the socket's name there.

Prints "WAY visited", or "WAY" and the error."""
import errno
import os
import socket
import sys

print("started", flush=True)
folder, name = sys.argv[1:]
path = os.path.join(folder, name)
here = os.getcwd()


def attempt(way, address, kind=socket.SOCK_STREAM, timeout=None, send=False):
    try:
        s = socket.socket(socket.AF_UNIX, kind)
        s.settimeout(timeout)
        if send:
            s.sendto(b"hello", address)
        else:
            s.connect(address)
        print(way, "visited")
    except OSError as e:
        print(way, errno.errorcode[e.errno])


attempt("relative", path)
attempt("absolute", os.path.abspath(path))
attempt("dots", f"{folder}/../{path}")
attempt("above", f"../{os.path.basename(here)}/{path}")
attempt("timeout", path, timeout=5)
attempt("bytes", os.fsencode(path) + b"\0rest")
attempt("own folder", f"/proc/self/cwd/{path}")
attempt("link", folder + "/link")
os.symlink(os.path.abspath(path), "/tmp/l-" + sys.argv[2])
attempt("own link", "/tmp/l-" + sys.argv[2])
attempt("own root", "/proc/self/root" + "/tmp/l-" + sys.argv[2])
os.unlink("/tmp/l-" + sys.argv[2])
held = os.open(folder, os.O_RDONLY)
attempt("held folder", f"/proc/self/fd/{held}/{name}")
attempt("held socket", f"/proc/self/fd/{os.open(path, os.O_PATH)}")
attempt("seqpacket", path, socket.SOCK_SEQPACKET)
attempt("datagram", folder + "/datagrams", socket.SOCK_DGRAM)
attempt("datagram sent", folder + "/datagrams", socket.SOCK_DGRAM, send=True)
attempt("raw", folder + "/datagrams", socket.SOCK_RAW, send=True)
try:
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    a.sendto(b"hello", folder + "/datagrams")
    print("pair visited")
except OSError as e:
    print("pair", errno.errorcode[e.errno])
os.chdir(folder)
attempt("from its folder", name)
