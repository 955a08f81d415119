"""Says of every function and class of the registry what can be asked of it: the same with doors as without."""
import builtins
import copy
import hashlib
import inspect
import pickle
import pydoc
import re
import sys
import types

from samples import SAMPLES, mod, there


def of(name):
    parts = name.split(".")
    if name == "_interpreters.create":
        return mod("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters").create
    x = mod(parts[0])
    for part in parts[1:]:
        x = getattr(x, part)
    return x


def say(what, do):
    try:
        x = do()
    except Exception as e:
        x = type(e).__name__ + ": " + str(e)
    x = re.sub(r"0x[0-9a-f]+", "0x", x if isinstance(x, str) else repr(x))
    print("  " + what, x if len(x) < 200 else hashlib.sha256(x.encode()).hexdigest())


class Holder:
    pass


# A class above one in C, and objects of ctypes, are known to differ (docs/python.md): what matters of them stands below.
differ = {"pickle.Unpickler", "ctypes.memmove", "ctypes.memset"}
extra = ["os.getpid", "pickle._loads", "pickle._Unpickler", "threading.Timer", "ctypes.PyDLL"]
for name in [*filter(there, SAMPLES), *extra]:
    x = of(name)
    print(name)
    if name in differ:
        print("  ", x.__name__ if hasattr(x, "__name__") else "", type(x).__name__ if isinstance(x, type) else "", x.__class__.__name__, callable(x))
        continue
    for attr in ("__name__", "__qualname__", "__module__", "__doc__", "__text_signature__", "__defaults__", "__kwdefaults__", "__annotations__", "__self__", "__class__"):
        say(attr, lambda: getattr(x, attr))
    say("dir", lambda: sorted(set(dir(x))))
    say("repr", lambda: repr(x))
    say("signature", lambda: inspect.signature(x))
    say("spec", lambda: inspect.getfullargspec(x))
    say("help", lambda: pydoc.plain(pydoc.render_doc(x)))
    say("file", lambda: inspect.getsourcefile(x))
    say("source", lambda: inspect.getsource(x))
    say("is", lambda: [inspect.isbuiltin(x), inspect.isfunction(x), inspect.isroutine(x), inspect.isclass(x), callable(x), bool(x)])
    say("isinstance", lambda: [isinstance(x, t) for t in (types.BuiltinFunctionType, types.FunctionType, type, object)])
    say("copy", lambda: [copy.copy(x) is x, copy.deepcopy(x) is x, pickle.dumps(x), x == x, hash(x) == hash(x)])
    say("set", lambda: setattr(x, "nothing_of_this_name", 1))
    if not isinstance(x, type):
        Holder.held = x
        say("held", lambda: [type(Holder().held) is type(x), Holder().held is x])
    if hasattr(x, "__code__"):
        c = x.__code__
        say("code", lambda: [c.co_argcount, c.co_kwonlyargcount, c.co_varnames[: c.co_argcount], c.co_flags & 12, c.co_filename, c.co_name, c.co_firstlineno])

print("subclasses")
import multiprocessing
import subprocess
import threading
import ctypes
import code

for c in (subprocess.Popen, threading.Thread, ctypes.CDLL, multiprocessing.Process, code.InteractiveInterpreter, pickle.Unpickler, pickle._Unpickler):
    sub = type("Sub", (c,), {"more": 1})
    print(c.__name__, c.__module__, issubclass(sub, c), sub.__mro__[1] is c, inspect.signature(c), [b.__name__ for b in c.__mro__ if b.__name__ != c.__name__])
import io

u = pickle.Unpickler(io.BytesIO(b""))
print(isinstance(u, pickle.Unpickler), type(u) is pickle.Unpickler, sys.getsizeof(u) > 0, hasattr(u, "persistent_load"), callable(u.load), u.load.__name__)
print(pickle.Unpickler.load.__name__, inspect.signature(u.load), pickle.Unpickler is __import__("_pickle").Unpickler)


class Own(pickle.Unpickler):
    def __init__(self, file, extra=1):
        super().__init__(file)
        self.extra = extra


print(inspect.signature(Own), Own(io.BytesIO(b"")).extra, sorted(k for k in vars(builtins) if k in ("eval", "exec", "compile")))
print([n for n in ("eval", "exec", "compile") if getattr(builtins, n).__self__ is not builtins])
