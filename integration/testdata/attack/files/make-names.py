"""Makes names of every kind outside: folder, link, pipe, socket, a file without a name that gets one. argv: the folder."""
import os
import socket
import sys

print("started", flush=True)
at = sys.argv[1] + "/"


def nameless():
    fd = os.open(at, os.O_TMPFILE | os.O_WRONLY, 0o600)
    os.link("/proc/self/fd/%d" % fd, at + "made-4", src_dir_fd=0)


for act in (lambda: os.mkdir(at + "made-1"), lambda: os.symlink("x", at + "made-2"), lambda: os.mkfifo(at + "made-3"), nameless,
            lambda: socket.socket(socket.AF_UNIX).bind(at + "made-5"), lambda: os.mknod(at + "made-6")):
    try:
        act()
    except OSError as e:
        print(e)
