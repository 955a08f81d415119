"""Ways to a function of the registry that do not go by its usual name. Each prints what came of it; plain Python runs all."""
import _thread
import atexit
import builtins
import concurrent.futures
import contextlib
import functools
import importlib.machinery
import importlib.util
import io
import json
import logging
import operator
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import types

import _imp
import _pickle
import _posixsubprocess
import _signal

marshal = importlib.import_module("marshal")
posix = sys.modules["posix"]
pickled = b"\x80\x04K\x01."
bomb = b"cposix\nsystem\n(S'echo bomb'\ntR."


def say(what, do, *args):
    try:
        do(*args)
        print(what, "ran", flush=True)
    except OSError as e:
        print(what, "refused " + e.qualname if hasattr(e, "qualname") else repr(e), flush=True)
    except Exception as e:
        print(what, repr(e), flush=True)


def fresh(name, execute=True):
    spec = importlib.machinery.BuiltinImporter.find_spec(name)
    m = _imp.create_builtin(spec)
    if execute:
        _imp.exec_builtin(m)
    return m


def gone(name):
    kept = sys.modules.pop(name)
    try:
        return importlib.import_module(name)
    finally:
        sys.modules[name] = kept


def held(do):
    with contextlib.ExitStack() as s:
        s.callback(do)


def raised(f, *args):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(f, *args).result()


class Odd:
    system = os.system
    evaluate = eval

    def __init_subclass__(cls, run):
        run("true")

    def __class_getitem__(cls, x):
        return os.system(x)

    def __del__(self):
        say("finaliser", os.system, "true")


say("twin", posix.system, "true")
say("through logging", logging.os.system, "true")
say("through random", random._os.system, "true")
say("through subprocess", subprocess.os.system, "true")
say("through codecs", json.codecs.builtins.eval, "1")
say("fork_exec", _posixsubprocess.fork_exec, *[[b"true"], [b"/bin/true"], True, (), None, None, -1, -1, -1, -1, -1, -1, *os.pipe(), False, False, *([-1] if sys.version_info >= (3, 11) else []), *([None, None, None, -1] if sys.version_info >= (3, 9) else []), None, *([True] if sys.version_info >= (3, 11) and sys.version_info < (3, 14) else [])])
say("thread by hand", _thread.start_new_thread, int, ())
say("old name of a thread", getattr(_thread, "start_new", _thread.start_new_thread), int, ())
say("pickle in C", _pickle.loads, pickled)
say("pickle in C, class", lambda: _pickle.Unpickler(io.BytesIO(pickled)).load())
say("pickle in Python", pickle._loads, pickled)
say("pickle in Python, class", lambda: pickle._Unpickler(io.BytesIO(pickled)).load())
say("pickle, subclass", lambda: type("U", (pickle.Unpickler,), {})(io.BytesIO(pickled)).load())
say("pickle, super", lambda: pickle.Unpickler.load(pickle.Unpickler(io.BytesIO(pickled))))
say("pickle, a program in it", pickle.loads, bomb)
say("signal in C", _signal.alarm, 0)
say("marshal", marshal.loads, marshal.dumps(1))
say("fresh posix", lambda: fresh("posix").system("true"))
say("posix, not executed", lambda: getattr(fresh("posix", False), "system", os.system)("true"))
say("fresh builtins", lambda: fresh("builtins").eval("1"))
say("builtins afterwards", lambda: eval("1"))
say("fresh sys", lambda: fresh("sys")._getframe())
say("posix imported again", lambda: gone("posix").system("true"))
say("os imported again", lambda: gone("os").system("true"))
say("import system, eval", importlib._bootstrap._call_with_frames_removed, eval, "1")
say("import system, system", importlib._bootstrap._call_with_frames_removed, os.system, "true")
say("map", lambda: list(map(os.system, ["true"])))
say("map eval", lambda: list(map(eval, ["1"])))
say("sorted", lambda: sorted(["1", "2"], key=eval))
say("partial", functools.partial(os.system, "true"))
say("partial eval", functools.partial(eval, "1"))
say("methodcaller", operator.methodcaller("system", "true"), os)
say("attrgetter", lambda: operator.attrgetter("os.system")(logging)("true"))
say("exit stack", held, functools.partial(os.system, "true"))
say("exit stack eval", held, functools.partial(exec, "1"))
say("in a class", lambda: Odd.system("true"))
say("in an instance", lambda: Odd.evaluate("1"))
say("class statement", lambda: type("Sub", (Odd,), {}, run=os.system))
say("subscript", lambda: Odd["true"])
say("decorator", lambda: os.system("true"))
say("property", lambda: property(lambda self: os.system("true")).__get__(1))
say("__call__", os.system.__call__, "true")
say("built by name", lambda: getattr(sys.modules["o" + "s"], "sys" + "tem")("true"))
say("dict of builtins", lambda: builtins.__dict__["ex" + "ec"]("1"))
say("frame by gi_frame", lambda: (x for x in [1]).gi_frame.f_builtins["eval"]("1"))
say("format of a module", lambda: "{0.system}".format(os) and os.system("true"))
say("executor", raised, os.system, "true")
say("executor eval", raised, eval, "1", {})
say("executor frame", raised, sys._getframe)
say("function of another's code", lambda: types.FunctionType((lambda: os.system("true")).__code__, {"os": os, "__name__": "subprocess", "__file__": os.__file__})())
say("glob in stdlib's name", lambda: types.FunctionType((lambda: sys._getframe()).__code__, {"sys": sys, "__name__": "logging"})())

threading.excepthook = lambda args: print("thread", "refused " + args.exc_value.qualname if hasattr(args.exc_value, "qualname") else repr(args.exc_value), flush=True)


def target(f, *args):
    try:
        t = threading.Thread(target=f, args=args)
        t.start()
        t.join()
        print("thread started", flush=True)
    except OSError as e:
        print("thread refused", flush=True)


target(os.system, "true")
target(eval, "1", {})
signal.signal(signal.SIGUSR1, lambda *a: os.system("true"))
say("in a handler", lambda: (os.kill(os.getpid(), signal.SIGUSR1), len([0])))
odd = Odd()
del odd


def last(f, *args):
    say("at exit " + f.__name__, f, *args)


atexit.register(last, os.system, "true")
atexit.register(os.umask, 0o22)
