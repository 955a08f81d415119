"""Makes files that are large without holding much, which others blow up later. argv: the folder."""
import os
import sys

print("started", flush=True)
for name, act in (("truncate", lambda fd: os.ftruncate(fd, 1 << 33)), ("far write", lambda fd: os.pwrite(fd, b"x", 1 << 33)),
                  ("fallocate", lambda fd: os.posix_fallocate(fd, 0, 12 << 20)), ("seek", lambda fd: (os.lseek(fd, 1 << 33, 0), os.write(fd, b"x")))):
    try:
        act(os.open(os.path.join(sys.argv[1], name), os.O_CREAT | os.O_WRONLY, 0o644))
    except OSError as e:
        print(name, e.strerror)
