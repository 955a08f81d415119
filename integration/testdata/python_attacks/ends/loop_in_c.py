# Long calls that do not come back to the interpreter, where a handler could run.
import signal

for n in (signal.SIGTERM, signal.SIGINT):
    signal.signal(n, lambda *a: None)
beat = open("beat", "ab", 0)
print("started\nready", flush=True)
while True:
    beat.write(b"x")
    max(range(10**7))
