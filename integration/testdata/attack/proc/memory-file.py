"""Reads the memory of a process through /proc: of the one named and of each it sees. argv: a process id."""
import os
import sys

print("started", flush=True)
for pid in [sys.argv[1], "1", str(os.getppid())] + [n for n in os.listdir("/proc") if n.isdigit()][-20:]:
    if pid == str(os.getpid()):
        continue
    try:
        with open("/proc/%s/maps" % pid) as maps, open("/proc/%s/mem" % pid, "rb", 0) as memory:
            for line in maps:
                if "[stack]" in line:
                    start, end = (int(x, 16) for x in line.split()[0].split("-"))
                    memory.seek(start)
                    print(memory.read(end - start).strip(b"\0"))
    except OSError as e:
        print(pid, e.strerror)
