# /proc/self is each process's own, down to the grandchild, and /proc shows the program's processes only.
import os
import subprocess
import sys

depth = int(sys.argv[1]) if len(sys.argv) > 1 else 0
with open("/proc/self/maps") as maps, open("/proc/self/status") as status:
    print(depth, len(maps.read()) > 0, status.read()[:5], os.readlink("/proc/self") == str(os.getpid()), os.listdir("/proc/self/fd") != [], flush=True)
if depth < 2:
    subprocess.run([sys.executable, sys.argv[0], str(depth + 1)], check=True)
