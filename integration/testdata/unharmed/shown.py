# What a program sees when it looks at guarded functions.
import builtins
import copyreg
import inspect
import io
import os
import pickle
import pydoc
import signal
import subprocess
import sys
import threading
import types

for f in (os.kill, os.system, os.execvp, os.fork, os.umask, eval, exec, compile, __import__, open, pickle.loads, pickle.load, signal.alarm, sys._getframe, sys.settrace, threading._start_new_thread,
          subprocess.Popen, subprocess.run, threading.Thread.start, os.popen):
    try:
        s = str(inspect.signature(f))
    except ValueError as e:
        s = "none"
    print(f.__name__, getattr(f, "__qualname__", ""), f.__module__, s, type(f).__name__, repr(f).partition(" at 0x")[0], isinstance(f, types.BuiltinFunctionType), callable(f), (f.__doc__ or "")[:30], f == f,
          pickle.loads(pickle.dumps(f)) is f, getattr(f, "__self__", "").__class__.__name__)
print(pydoc.plain(pydoc.render_doc(os.kill)), pydoc.plain(pydoc.render_doc(eval)))
class Mine(pickle.Unpickler):
    def find_class(self, module, name):
        return super().find_class(module, name)


print(dir(builtins) == sorted(vars(builtins)), len([n for n in vars(builtins) if "psb" in n]), issubclass(Mine, pickle.Unpickler), [m for m in sys.modules if "psb" in m], [f for f in [*sys.meta_path, *sys.path_hooks] if "psb" in repr(f)])
print(Mine(io.BytesIO(pickle.dumps([1, os.path.join]))).load()[0], os.kill in {os.kill}, hash(os.kill) == hash(os.kill), {eval: 1}[eval])
print(issubclass(subprocess.Popen, object), subprocess.Popen.__mro__, type("P", (subprocess.Popen,), {}).__name__, list(map(eval, ["1", "2"])))


class C:
    run = os.getpid
    kill = os.kill


print(type(C().run()).__name__, C().kill.__name__)
