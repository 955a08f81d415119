"""Texts that the program hands to the standard library, which evaluates them; and what the library evaluates of its own. One line for each."""
import asyncio
import atexit
import bdb
import collections
import contextlib
import dataclasses
import dis
import gettext
import importlib.abc
import importlib.machinery
import inspect
import io
import logging
import logging.config
import modulefinder
import multiprocessing.managers
import multiprocessing.sharedctypes
import optparse
import os
import pdb
import profile
import py_compile
import runpy
import sys
import tempfile
import timeit
import types
import typing
import unittest.mock
import zipimport
from functools import partial

done = []
TEXT = "done.append(1)"
HERE = tempfile.mkdtemp()
names = {"done": done}
annotated = type("Annotated", (), {"__annotations__": {"a": TEXT}, "__module__": __name__})


def file(name, text):
    path = os.path.join(HERE, name)
    with open(path, "w") as f:
        f.write(text)
    return path


class Bytes(importlib.machinery.SourceFileLoader):
    def get_data(self, path):
        return TEXT.encode()


class Source(importlib.abc.InspectLoader):
    def get_source(self, name):
        return TEXT


class Says:
    # What the library calls on its own word is a built-in with the text in it.
    __str__ = staticmethod(partial(eval, TEXT, names))
    keys = staticmethod(partial(exec, TEXT, names))


class Finder:
    find_spec = staticmethod(eval)


def run(code):
    types.FunctionType(code, {**names, "__builtins__": __builtins__})()


def ran_by_loader(loader, name="made", spec=None):
    m = types.ModuleType(name)
    m.__spec__ = spec
    m.done = done
    loader.exec_module(m)


def settings(args):
    logging.config.fileConfig(
        io.StringIO(
            "[loggers]\nkeys=root\n[handlers]\nkeys=h\n[formatters]\nkeys=\n[logger_root]\nhandlers=h\n[handler_h]\nclass=StreamHandler\nargs=" + args
        ),
        {"__builtins__": {}},
    )


def read_file():
    optparse.Values().read_file(file("values", "import __main__\n__main__." + TEXT))


def at_prompt(lines):
    d = pdb.Pdb(stdin=io.StringIO(), stdout=io.StringIO())
    d.curframe, d.curframe_locals = sys._getframe(), dict(names)
    for line in lines:
        d.onecmd(line)


def condition(text):
    # The breakpoint stands where it is asked for.
    b = bdb.Breakpoint("<psb>", 0, cond=text)
    b.line = sys._getframe().f_lineno + 3
    bdb.Breakpoint.bplist["<psb>", b.line] = bdb.Breakpoint.bplist.pop(("<psb>", 0))
    try:
        bdb.effective("<psb>", b.line, sys._getframe())
    finally:
        b.deleteMe()


@contextlib.contextmanager
def everywhere():
    builtins = __builtins__ if isinstance(__builtins__, dict) else vars(__builtins__)
    builtins["hit"] = lambda: done.append(1)
    try:
        yield
    finally:
        del builtins["hit"]


def imported():
    sys.meta_path.insert(0, Finder)
    try:
        with everywhere():
            importlib.import_module("hit()or None")
    finally:
        sys.meta_path.remove(Finder)


def get_code_is_exec():
    class Loader(importlib.machinery.SourceFileLoader):
        get_code = staticmethod(exec)

    with everywhere():
        ran_by_loader(Loader("hit()", "made.py"), "hit()")


def run_code_updates():
    with contextlib.suppress(TypeError):
        runpy._run_code(run.__code__, {}, Says())


def fields(name):
    made = dataclasses.dataclass(init=False, repr=False)(type("Fields", (), {"__annotations__": {name: int}, "__module__": __name__}))
    return made() == made()


async def called_soon():
    asyncio.get_running_loop().call_soon(exec, TEXT, names)
    await asyncio.sleep(0)


HANDED = {
    "debugger": lambda: bdb.Bdb().run(TEXT, dict(names)),
    "debugged expression": lambda: bdb.Bdb().runeval(TEXT, dict(names)),
    "profile": lambda: profile.Profile().runctx(TEXT, dict(names), {}),
    "timeit": lambda: timeit.timeit(TEXT, globals=names, number=1),
    "timeit setup": lambda: timeit.timeit("1", TEXT, globals=names, number=1),
    "annotation": lambda: typing.get_type_hints(annotated, names),
    "reference": lambda: typing.get_type_hints(type("A", (), {"__annotations__": {"a": typing.ForwardRef(TEXT)}}), names),
    "console": lambda: pdb.code.InteractiveConsole(dict(names)).push(TEXT + "\n"),
    "compiled command": lambda: run(pdb.code.compile_command(TEXT)),
    "disassembled": lambda: run(dis.Bytecode(TEXT).codeobj),
    "debugger's line": lambda: at_prompt(["!" + TEXT]),
    "debugger's expression": lambda: at_prompt(["p " + TEXT]),
    "condition": lambda: condition("done.append(1)"),
    "source to code": lambda: run(importlib.machinery.SourceFileLoader("m", "m.py").source_to_code(TEXT, "m.py")),
    "abstract source to code": lambda: run(importlib.abc.InspectLoader.source_to_code(TEXT, "m.py")),
    "loader with its own data": lambda: ran_by_loader(Bytes("made", file("made.py", ""))),
    "loader with its own source": lambda: run(Source().get_code("made")),
    "file of options": read_file,
    "settings": lambda: settings("(sys.modules['__main__'].done.append(1),)"),
    "annotation as a field": lambda: fields("__class__,done.append(1)"),
    "name of a method": lambda: multiprocessing.managers.MakeProxyType("P", ["m(self, a=__import__('__main__').done.append(1)): pass\ndef n"]),
    "text of a name": lambda: collections.namedtuple("N", [Says()]),
    "keys of names": run_code_updates,
    "finder": imported,
    "get_code": get_code_is_exec,
    "text in the place of code": lambda: runpy._run_code(TEXT, dict(names)),
    "get_code gives a text": lambda: ran_by_loader(type("Loader", (Bytes,), {"get_code": lambda self, name: TEXT})("made", "made.py")),
    "source of an archive": lambda: run(zipimport._compile_source("made.py", TEXT.encode())),
    "file object": lambda: run(modulefinder.ModuleFinder().load_module("made", io.StringIO(TEXT), "made.py", ("", "r", modulefinder._PY_SOURCE)).__code__),
    "called soon": lambda: asyncio.run(called_soon()),
}
if sys.version_info >= (3, 10):
    HANDED["evaluated annotation"] = lambda: inspect.get_annotations(annotated, globals=names, eval_str=True)


@dataclasses.dataclass(order=True, frozen=True)
class Data:
    a: int
    b: "typing.Optional[Data]" = None
    c: "typing.List[int]" = dataclasses.field(default_factory=list, compare=False)


def package():
    os.mkdir(os.path.join(HERE, "spaces"))
    file("spaces/inside.py", "value = 7")
    sys.path.insert(0, HERE)
    import spaces.inside

    return spaces.inside.value, runpy.run_path(os.path.join(HERE, "spaces", "inside.py"))["value"], runpy.run_module("spaces.inside")["value"]


def found():
    finder = modulefinder.ModuleFinder()
    finder.run_script(file("script.py", "x = 1\n"))
    return list(finder.modules)


OWN = {
    "namedtuple": lambda: collections.namedtuple("Point", "x y", defaults=(1,))(2),
    "dataclass": lambda: (Data(1), dataclasses.make_dataclass("Made", ["x", ("y", int, 3)])(1)),
    "annotations": lambda: typing.get_type_hints(Data),
    "union": lambda: typing.get_type_hints(type("U", (), {"__annotations__": {"a": "typing.Union[int, typing.Tuple[()], 'Data', None]"}}), globals()),
    "autospec": lambda: unittest.mock.create_autospec(condition)("text") is not None,
    "plural": lambda: gettext.c2py("n != 1")(2),
    "settings": lambda: settings("(sys.stdout,)"),
    "proxy": lambda: multiprocessing.managers.MakeProxyType("Proxy", ("get", "put")).__name__,
    "synchronized": lambda: multiprocessing.sharedctypes.make_property("honest") is not None,
    "modules": package,
    "compiled file": lambda: os.path.exists(py_compile.compile(file("compiled.py", "x = 1\n"))),
    "found": found,
    "signature": lambda: str(inspect.signature(len)),
    "condition": lambda: condition("text != 'x' and not done"),
}


def tell(kind, name, do):
    del done[:]
    try:
        said = do()
        said = repr(said) if kind == "own" else "reached" if done else "nothing"
    except (PermissionError, SyntaxError) as e:
        said = "refused " + type(e).__name__ if type(e).__module__ == "psb.errors" else repr(e)
        said = "reached" if done else said
    except Exception as e:
        said = "reached" if done else repr(e)
    print(kind, name + ":", said, flush=True)


if __name__ == "__main__":
    for name, do in HANDED.items():
        tell("handed", name, do)
    for name, do in OWN.items():
        tell("own", name, do)
    # Registered last, run first: nobody's code calls it.
    atexit.register(lambda: print("at the end:", "reached" if done else "refused"))
    del done[:]
    atexit.register(exec, TEXT, names)
