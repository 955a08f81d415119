# cProfile, which registers callbacks in C from Python 3.12 on, and a program that would register one of its own.
import cProfile
import pstats
import sys


def counted():
    return sum(range(3))


p = cProfile.Profile()
p.enable()
counted()
p.disable()
print("profiled", any(name == "counted" for _, _, name in pstats.Stats(p).stats))
if hasattr(sys, "monitoring"):
    sys.monitoring.use_tool_id(1, "own")
    for call in (print, lambda *a: None):
        try:
            sys.monitoring.register_callback(1, sys.monitoring.events.PY_START, call)
            print("registered")
        except PermissionError as e:
            print("refused", str(e).split(" ")[1])
else:
    print("refused sys.monitoring.register_callback\n" * 2, end="")
