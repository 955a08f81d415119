# A program that takes every exception and every signal it can for its own.
import signal
import sys

for n in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU):
    signal.signal(n, lambda *a: None)
beat = open("beat", "ab", 0)
print("started\nready", flush=True)


class Keep:
    def __enter__(self):
        return self

    def __exit__(self, *a):
        return True


while True:
    with Keep():
        try:
            while True:
                beat.write(b"b")
                sum(range(100000))
        except BaseException:
            pass
        finally:
            for _ in range(10):
                beat.write(b"f")
