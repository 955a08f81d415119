import os, subprocess, sys

for name in (f"/proc/{os.getpid()}/status", "/proc/self/maps", "/proc/meminfo", f"/proc/{os.getpid()}/task/{os.getpid()}/comm"):
    open(name).read()
print(len(os.listdir("/proc/self/task")), len(os.listdir(f"/proc/{os.getpid()}/fd")) > 2)
subprocess.run([sys.executable, "-c", "import os; open('/proc/self/statm').read(); open(f'/proc/{os.getppid()}/stat').read()"], check=True)
pid = f"run/app-{os.getpid()}.pid"
open(pid, "w").close()
os.unlink(pid)
