"""A bomb of threads with a fuse. argv: how many at most, a word to be found by."""
import sys
import threading

print("started", flush=True)
threading.stack_size(65536)
end = threading.Event()
n = 0
try:
    while n < int(sys.argv[1]):
        threading.Thread(target=end.wait, daemon=True).start()
        n += 1
except RuntimeError as e:
    print(n, "threads:", e)
print("ready", flush=True)
sys.stdin.read()
