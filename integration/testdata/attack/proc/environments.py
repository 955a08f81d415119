"""Reads the environment of every process and thread it sees, and of its parent. argv: none."""
import os

print("started", flush=True)
for pid in [n for n in os.listdir("/proc") if n.isdigit()] + [str(os.getppid())]:
    tasks = ["/proc/%s" % pid]
    try:
        tasks += ["/proc/%s/task/%s" % (pid, t) for t in os.listdir("/proc/%s/task" % pid)]
    except OSError as e:
        print(e)
    for task in tasks:
        try:
            print(open(task + "/environ", "rb").read())
        except OSError as e:
            print(e)
