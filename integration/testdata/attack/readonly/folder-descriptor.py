"""Writes, makes and removes beneath a descriptor of a folder it may only read. argv: the folder."""
import os
import sys

print("started", flush=True)
at = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
for act in (lambda: os.write(os.open("file", os.O_WRONLY, dir_fd=at), b"written from inside"), lambda: os.mkdir("made", dir_fd=at),
            lambda: os.rename("file", "moved", src_dir_fd=at, dst_dir_fd=at), lambda: os.unlink("file", dir_fd=at),
            lambda: os.open("new", os.O_CREAT | os.O_WRONLY, dir_fd=at), lambda: os.chmod("file", 0o600, dir_fd=at)):
    try:
        act()
    except OSError as e:
        print(e)
