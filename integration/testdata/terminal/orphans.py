# Leaves grandchildren behind, waits for its own children, and then looks for a dead process that nobody waited for.
import os
import signal
import time

r, w = os.pipe()
for _ in range(20):
    if os.fork() == 0:
        if os.fork() == 0:
            os.write(w, b"%d\n" % os.getpid())
            os._exit(0)
        os._exit(0)
for _ in range(20):
    os.wait()
os.close(w)
with open(r) as said:
    grandchildren = said.read().split()  # to its end: all of them are on their way out


def left():
    # Those that are not dead yet, and those that are and that process 1, to whom they fell, has not waited for.
    found = []
    for pid in grandchildren:
        try:
            with open("/proc/%s/stat" % pid) as f:
                state, parent = f.read().rsplit(")", 1)[1].split()[:2]
        except OSError:
            continue
        if state != "Z" or parent == "1":
            found.append(pid)
    return found


deadline = time.monotonic() + 10
while left() and time.monotonic() < deadline:
    time.sleep(0.01)
print(len(grandchildren), "left dead:", left())
# An orphan outlives its parent, not the program: psb ends although it still runs.
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for n in range(3):
            os.close(n)
        signal.pause()
    os._exit(0)
os.wait()
