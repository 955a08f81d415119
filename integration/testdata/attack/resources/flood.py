"""Makes refused calls from many threads at once. One that is not refused is told."""
import ctypes
import threading

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
through = []


def ask():
    for _ in range(500):
        if libc.syscall(250, 0, -4, 0) >= 0 or ctypes.get_errno() != 1:  # keyctl
            through.append(1)


threads = [threading.Thread(target=ask) for _ in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
if through:
    print("reached the keyring", len(through), "times")
