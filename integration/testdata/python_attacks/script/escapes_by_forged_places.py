# Code that says it stands in the standard library, in a package, or in the import system, is taken for it. The kernel asks nobody's name.
#: library -
#: package -
#: importing -
#: text -
#: open *
import os
import threading
import types
from tries import attempt, canary, cat


def shell():
    return os.system(cat)


def evaluated():
    return eval("print(open(%r).read())" % canary)


def opened():
    print(open(canary).read())


def forged(f, file, name, **names):
    return types.FunctionType(f.__code__.replace(co_filename=file, co_name=name), {**globals(), **names})


attempt("library", lambda: forged(shell, os.__file__, "shell")())
attempt("package", lambda: forged(evaluated, "/usr/lib/python3/dist-packages/x.py", "x")())
outer = forged(lambda f: f(), "<frozen importlib._bootstrap>", "_call_with_frames_removed")
attempt("importing", lambda: outer(forged(shell, os.__file__, "<module>")))
attempt("text", lambda: forged(evaluated, "<x>", "x", __name__="x", __file__=os.__file__)())
attempt("open", lambda: outer(forged(opened, os.__file__, "<module>")))
