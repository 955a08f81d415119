"""Built-ins replaced, the shim's own state looked for, the stack nearly used up: each time a call and a text, and what came of them."""
import builtins
import os
import subprocess
import sys
import types

true, system, evaluate, Refused, kind, own = True, os.system, eval, PermissionError, type, dict(vars(builtins))
out = sys.stdout.write


def tried(what, do, *args):
    try:
        out("%s ran %r\n" % (what, do(*args)))
    except BaseException as e:
        out("%s %s\n" % (what, kind(e).__name__))


class S(str):
    def startswith(self, *a):
        return true

    def rpartition(self, *a):
        return ("", "", "subprocess")

    def __eq__(self, o):
        return true

    __hash__ = str.__hash__


# Names of the guard's state, anywhere that can be reached without a door.
hits = 0
for m in list(sys.modules.values()):
    d = getattr(m, "__dict__", {})
    for k in list(d):
        if k in ("_armed", "_rules", "RULES", "GRANTED", "armed", "ENFORCE", "verdicts", "EXEMPT", "kinds", "files", "_psb", "judge"):
            d[k] = {}
            hits += 1
out("hits %d\n" % hits)
for f in (os.system, os.popen, os.fork, eval, exec, compile, sys._getframe, __import__("pickle").loads):
    for name in ("__wrapped__", "__globals__", "raw", "original", "entry", "func", "__func__", "__closure__", "gi_frame"):
        if hasattr(f, name) and not isinstance(f, types.FunctionType):
            out("%r has %s\n" % (f, name))
for name in ("entry", "f", "x", "__code__"):
    try:
        setattr(os.system, name, lambda *a: true)
        out("set %s\n" % name)
    except AttributeError:
        pass
    try:
        delattr(os.system, name)
        out("deleted %s\n" % name)
    except AttributeError:
        pass
tried("before", system, "true")
encodings = sys.modules["encodings"]
for name in ("isinstance", "issubclass", "getattr", "hasattr", "len", "dict", "str", "tuple", "id", "type", "callable", "any", "all", "frozenset", "set"):
    value = S if name == "str" else (lambda *a: true)
    setattr(builtins, name, value)
    setattr(encodings, name, value)
os.getcwd = os.fspath = os.path.realpath = lambda *a, **k: "/usr/lib/python3"
sys.modules["psb"] = sys.modules["psb.errors"] = types.ModuleType("psb")
sys.modules["posix"].getcwd = sys.modules["posix"].write = lambda *a: 0
__name__ = S("logging")
__file__ = S(os.__file__)
tried("poisoned system", system, "true")
tried("poisoned text", evaluate, "1")
code = (lambda: os.system("true")).__code__.replace(co_filename=S("nowhere"), co_name=S("run"))
tried("odd file name", types.FunctionType(code, {"os": os}))
for name in own:
    setattr(builtins, name, own[name]) if name not in ("eval", "exec", "compile") else None


def deep(n, do, *args):
    return deep(n - 1, do, *args) if n else do(*args)


low = 120
sys.setrecursionlimit(low)
for what, do, arg in (("system", system, "true"), ("text", evaluate, "1")):
    ends = []
    for n in range(10, low):
        try:
            deep(n, do, arg)
            ends.append("ran")
        except Refused:
            ends.append("refused")
        except RecursionError:
            ends.append("deep")
    out("near the end of the stack %s %s\n" % (what, " ".join(sorted({e: 1 for e in ends}))))
