"""What a program gives to eval, exec and compile: under rules that grant all of it the same comes out as without."""
from __future__ import annotations

import ast
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "site-packages"))
import borrowed

x = 3


def say(what, do, *args, **named):
    try:
        print(what, repr(do(*args, **named)))
    except Exception as e:
        print(what, type(e).__name__ if "object" not in str(e) else "", e if isinstance(e, TypeError) else "")


def local():
    y = 4
    exec("z = y * 2")
    return eval("x + y"), locals().get("z"), [eval("n + 1", {"n": i}) for i in range(2)]


def given():
    names = {"k": 1}
    exec("a = 1; b = [a, 2]", names)
    return sorted(names), eval("k", {"__builtins__": {}}, {"k": 5}), eval("k", names), names["b"]


def nested():
    exec("def inner(n):\n    return n + x\n", globals())
    return inner(2)  # noqa


def flags():
    names = {}
    exec("def f(a: nowhere): return a", names)
    return eval("1 if True else 2"), names["f"](3), compile("a", "f", "eval", 0, True).co_flags & 0x1000000, compile("a", "f", "eval").co_flags & 0x1000000


class Body:
    a = 2
    b = eval("a + x")
    exec("c = a + 1")


exec("w = 5\nq = [i for i in range(w)]")
print(w, q)  # noqa
say("local", local)
say("given", given)
say("nested", nested)
say("flags", flags)
print(Body.b, Body.c)
code = compile("x * 2", "named", "eval")
say("code", lambda: (eval(code), eval(code, {"x": 10}), code.co_filename))
say("bytes", eval, b"1 + 1")
say("spaces", eval, " \t 1 + 1")
say("tree", lambda: eval(compile(ast.parse("1 + x", mode="eval"), "f", "eval")))
say("statement", lambda: exec(compile("v = 8", "f", "exec"), globals()))
print(v)  # noqa
say("error", lambda: eval("1 / 0"))
say("syntax", lambda: eval("1 +"))
try:
    eval(3)
except TypeError:
    print("no text")
say("no names", lambda: eval("1", []))
say("nothing", lambda: eval())
say("too many", lambda: eval("1", None, None, None))
say("library", lambda: (borrowed.compute("().__class__.__name__ + str(x)", 2), borrowed.define("def f(): return [].__class__")()))
got = []
t = threading.Thread(target=lambda: got.append(eval("x + 1")))
t.start()
t.join()
print(got)
