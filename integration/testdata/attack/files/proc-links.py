"""Goes through the links of /proc that lead to roots and working folders. argv: the file."""
import os
import sys

print("started", flush=True)
path = sys.argv[1]
rel = os.path.relpath(path)
ways = ["/proc/self/cwd/" + rel, "/proc/thread-self/root" + path, "/proc/thread-self/cwd/" + rel, "/proc/self/task/%d/root%s" % (os.getpid(), path)]
for pid in [n for n in os.listdir("/proc") if n.isdigit()][:40]:
    ways += ["/proc/%s/root%s" % (pid, path), "/proc/%s/cwd/%s" % (pid, rel)]
for way in ways:
    try:
        print(open(way).read())
    except OSError as e:
        print(way, e.strerror)
