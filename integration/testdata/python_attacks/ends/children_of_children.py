# Children that leave their group, their session and their parent.
import os
import signal
import sys
import time


def beat():
    for n in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(n, signal.SIG_IGN)
    while True:
        with open("beat", "a") as f:
            f.write("c")
        time.sleep(0.05)


for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            beat()
        os._exit(0)
print("started\nready", flush=True)
beat()
