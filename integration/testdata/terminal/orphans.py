# Leaves grandchildren behind, waits for its own children, and then looks for a dead process that nobody waited for.
import os
import signal
import time

for _ in range(20):
    if os.fork() == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
for _ in range(20):
    os.wait()


def dead():
    found = []
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/stat" % name) as f:
                fields = f.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if name.isdigit() and fields[0] == "Z" and fields[1] == "1":
            found.append(name)
    return found


deadline = time.monotonic() + 10
while dead() and time.monotonic() < deadline:
    time.sleep(0.01)
print("left dead:", dead())
# An orphan outlives its parent, not the program: psb ends although it still runs.
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for n in range(3):
            os.close(n)
        signal.pause()
    os._exit(0)
os.wait()
