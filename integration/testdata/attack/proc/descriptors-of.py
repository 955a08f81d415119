"""Opens the files that other processes hold open. argv: a process id, its descriptor."""
import os
import sys

print("started", flush=True)
pid, fd = sys.argv[1:]
for way in ["/proc/%s/fd/%s" % (pid, fd), "/proc/%s/task/%s/fd/%s" % (pid, pid, fd), "/proc/1/fd/0", "/proc/1/fd/3"] + ["/proc/%d/fd/%d" % (os.getppid(), n) for n in range(3, 20)]:
    try:
        print(os.read(os.open(way, os.O_RDONLY | os.O_NONBLOCK), 4096))
    except OSError as e:
        print(way, e.strerror)
