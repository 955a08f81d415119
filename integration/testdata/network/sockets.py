"""Connects to sockets of the host by every way to say where they are. What reaches one says how. argv: a ruled one, another in a folder that may
be read, the name of an abstract one."""
import os
import socket
import sys

print("started", flush=True)
ruled, other, abstract = sys.argv[1:]


def go(way, path, kind=socket.SOCK_STREAM, sending=False):
    try:
        s = socket.socket(socket.AF_UNIX, kind)
    except OSError as e:
        return print(way, "socket", e.strerror)
    s.settimeout(5)
    try:
        if sending:
            s.sendto(way.encode() + b"\n", path)
        else:
            s.connect(path)
            s.sendall(way.encode() + b"\n")
        print("reached", way)
    except OSError as e:
        print(way, e)
    s.close()


go("ruled", ruled)
go("ruled by bytes", ruled.encode())
os.symlink(ruled, "/tmp/to-ruled-%d" % os.getpid())
go("ruled by a link", "/tmp/to-ruled-%d" % os.getpid())
go("other", other)
go("other from beside", os.path.dirname(ruled) + "/../" + os.path.relpath(other, os.path.dirname(os.path.dirname(ruled))))
os.symlink(other, "/tmp/to-other-%d" % os.getpid())
go("other by a link", "/tmp/to-other-%d" % os.getpid())
go("other by the root", "/proc/self/root" + other)
go("other by the folder", "/proc/self/fd/%d/%s" % (os.open(os.path.dirname(other), os.O_PATH), os.path.basename(other)))
os.chdir(os.path.dirname(other))
go("other from its folder", os.path.basename(other))
go("abstract", "\0" + abstract)
go("abstract of the ruled path", "\0" + ruled)
go("ruled, and more", ruled + "/../" + os.path.basename(other))
go("ruled with an end", ruled + "\0" + "x")
go("datagram", other + ".l", socket.SOCK_DGRAM)
go("datagram sent", other + ".l", socket.SOCK_DGRAM, True)
go("abstract datagram", "\0" + abstract + ".l", socket.SOCK_DGRAM, True)
for name in ["/tmp/to-ruled-%d" % os.getpid(), "/tmp/to-other-%d" % os.getpid()]:
    os.unlink(name)
