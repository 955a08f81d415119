# What any program of some size does at its start: threads, processes, copies, random bytes, temporary files.
import base64
import json
import os
import subprocess
import sys
import tempfile
import threading

threads = [threading.Thread(target=os.getpid) for _ in range(50)]
for t in threads:
    t.start()
for t in threads:
    t.join()
subprocess.run([sys.executable, "-Sc", "pass"], check=True)
with tempfile.TemporaryFile() as a, tempfile.TemporaryFile() as b:
    a.write(b"x" * 10000)
    a.flush()
    if hasattr(os, "copy_file_range"):
        assert os.copy_file_range(a.fileno(), b.fileno(), 10000, 0, 0) == 10000
    assert os.sendfile(b.fileno(), a.fileno(), 0, 5000) == 5000
print("SYSCALLS", len(os.urandom(8)), os.stat(".").st_mode > 0, json.loads(base64.b64decode("WzFd")))
