# What debuggers and profilers use of Python.
import faulthandler
import signal
import sys
import threading
import tracemalloc

lines = []


def tracer(frame, event, arg):
    lines.append(event)
    return tracer


def traced(n):
    return n + 1


sys.settrace(tracer)
traced(1)
sys.settrace(None)
print("trace", lines)
done = threading.Event()
faulthandler.register(signal.SIGUSR1, file=sys.stdout)
signal.raise_signal(signal.SIGUSR1)
faulthandler.dump_traceback_later(0.05, file=sys.stdout)
done.wait(0.5)
faulthandler.cancel_dump_traceback_later()
tracemalloc.start()
kept = bytearray(1 << 20)
print("memory", tracemalloc.get_traced_memory()[0] >= 1 << 20)
x = 40
breakpoint()
print("AFTER", x)
