# What both modes share: who asks, and how a note is written. The three files of this folder are pasted, indented, into one
# function at the end of encodings/__init__.py (overlay.go): top-level names here become its locals, so that nothing of it can
# be seen in a module and nothing is lost when the interpreter clears modules at its end. Hence the rules of this folder:
# Python 3.8 syntax, no import statement, no text over several lines, no state outside mutable containers.
import sys  # psb: cut
FD = -0x505342  # psb: cut

# Built-ins are taken as they are now: nothing is looked up later where the program could have put something else. A test
# holds that no function of this folder reads a global name.
builtins = sys.modules["builtins"]
object, type, str, bytes, int, bool, list, tuple = builtins.object, builtins.type, builtins.str, builtins.bytes, builtins.int, builtins.bool, builtins.list, builtins.tuple
dict, set, frozenset, isinstance, issubclass, callable = builtins.dict, builtins.set, builtins.frozenset, builtins.isinstance, builtins.issubclass, builtins.callable
getattr, setattr, hasattr, id, len, map, range, slice = builtins.getattr, builtins.setattr, builtins.hasattr, builtins.id, builtins.len, builtins.map, builtins.range, builtins.slice
sorted, ord, any, staticmethod, property, BaseException = builtins.sorted, builtins.ord, builtins.any, builtins.staticmethod, builtins.property, builtins.BaseException
Exception, OSError, KeyError, ValueError, TypeError = builtins.Exception, builtins.OSError, builtins.KeyError, builtins.ValueError, builtins.TypeError
ImportError, ModuleNotFoundError, RuntimeError, RecursionError = builtins.ImportError, builtins.ModuleNotFoundError, builtins.RuntimeError, builtins.RecursionError
PermissionError, divmod, bytearray, AttributeError = builtins.PermissionError, builtins.divmod, builtins.bytearray, builtins.AttributeError
SyntaxError = builtins.SyntaxError
HERE = sys._getframe(0).f_code.co_filename
PACKAGE = "PACKAGE_PATH"  # the folder in which the package psb of this box lies
posix = sys.modules["posix"]
write, opening, reading, closing, getcwd, status, end = posix.write, posix.open, posix.read, posix.close, posix.getcwd, posix.stat, posix._exit
unshared = posix.O_RDONLY | posix.O_CLOEXEC
getframe = sys._getframe
modules = sys.modules
version = sys.version_info[:2]
here = sys.modules["_thread"]._local()
said = set()
kinds = {}
stdlib = str(sys.modules["encodings"].__file__ or "").rpartition("/")[0].rpartition("/")[0] + "/"

# What a code object's file is to us.
STDLIB = 0
LIBRARY = 1
PROGRAM = 2
TEXT = 3


def theirs(e: BaseException) -> bool:
    # A signal handler of the program may run inside our code; what it raises belongs to the program. Below 3.10 a
    # swallowed RecursionError leaves CPython in a state where going on aborts the process.
    if not isinstance(e, Exception) or (version < (3, 10) and isinstance(e, RecursionError)):
        return True
    tb = e.__traceback__
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    return tb is not None and tb.tb_frame.f_code.co_filename != HERE


def without(tb: object) -> object:
    # A traceback without the frames that are ours.
    kept = []
    while tb is not None:
        name = tb.tb_frame.f_code.co_filename
        if name != HERE and not name.startswith(PACKAGE + "/"):
            kept.append(tb)
        tb = tb.tb_next
    for t in kept[::-1]:
        tb = type(t)(tb, t.tb_frame, t.tb_lasti, t.tb_lineno)
    return tb


def text(x: object) -> str:
    # Never calls a method of the program: only the built-in text types, subclasses brought back to them.
    c = type(x)
    if c is str:
        return x
    if issubclass(c, str):
        return str.__str__(x)
    if issubclass(c, bytes):
        return bytes.decode(x, "utf-8", "surrogateescape")
    if issubclass(c, int):
        return int.__repr__(x)
    return ""


def quote(s: str) -> str:
    if s.isascii() and s.isprintable() and '"' not in s and "\\" not in s:
        return '"' + s + '"'
    out = []
    for c in s:
        n = ord(c)
        if c == '"' or c == "\\":
            out.append("\\" + c)
        elif 32 <= n < 127:
            out.append(c)
        elif n < 0x10000:
            out.append("\\u%04x" % n)
        else:
            n -= 0x10000
            out.append("\\u%04x\\u%04x" % (0xD800 + (n >> 10), 0xDC00 + (n & 0x3FF)))
    return '"' + "".join(out) + '"'


def kind(name: str) -> int:
    k = kinds.get(name)
    if k is None:
        if name.startswith("<frozen ") or name == HERE or name.startswith(PACKAGE + "/"):
            k = STDLIB  # and what is ours
        elif name.startswith("<"):
            k = TEXT
        elif "/site-packages/" in name or "/dist-packages/" in name:
            k = LIBRARY
        elif name.startswith(stdlib):
            k = STDLIB
        else:
            k = PROGRAM
        if len(kinds) > 4096:
            kinds.clear()
        kinds[name] = k
    return k


def library(name: str) -> str:
    first = name.replace("/dist-packages/", "/site-packages/").rpartition("/site-packages/")[2].partition("/")[0]
    return first.partition(".")[0]


def modname(f: object) -> str:
    name = dict.get(f.f_globals, "__name__")
    if name != "__main__":
        return text(name)
    spec = dict.get(f.f_globals, "__spec__")
    if type(spec).__name__ == "ModuleSpec":
        name = text(spec.name)
        return name[:-9] if name.endswith(".__main__") else name
    name = f.f_code.co_filename.rpartition("/")[2]
    file = dict.get(f.f_globals, "__file__")
    if name.startswith("<") and type(file) is str:
        name = file.rpartition("/")[2]  # text that a script evaluated
    if name.startswith("<") or "/ipykernel_" in f.f_code.co_filename:
        return {"<string>": "-c", "<stdin>": "-"}.get(name, "__main__")
    return name[:-3] if name.endswith(".py") else name


def owns(f: object) -> bool:
    # Is f a frame of the program itself? Text that was evaluated has no file; typed or given with -c it is __main__.
    k = kind(f.f_code.co_filename)
    return k == PROGRAM or (k == TEXT and dict.get(f.f_globals, "__name__") == "__main__")


def funcname(f: object) -> str:
    # "module.function". Lambdas and comprehensions count as the function around them: 3.12 has no frames for some of these.
    name = modname(f)
    g = f.f_globals
    while f is not None and f.f_globals is g:
        called = f.f_code.co_name
        if called == "<module>":
            return name
        if not called.startswith("<"):
            return name + "." + called
        f = f.f_back
    return name


def asker(f: object) -> tuple:
    # (file:line, function, library): the nearest frame of the program, and the library that it called. A program that is
    # itself installed or part of the standard library (-m pip) is known by its __main__, without a line.
    lib = ""
    main = None
    n = 0
    while f is not None and n < 256:
        n += 1
        if owns(f):
            return f.f_code.co_filename + ":" + text(f.f_lineno or 0), funcname(f), lib
        if kind(f.f_code.co_filename) == LIBRARY:
            lib = library(f.f_code.co_filename)
        if dict.get(f.f_globals, "__name__") == "__main__":
            main = f
        f = f.f_back
    return "", "" if main is None else modname(main), lib


def emit(event: str, args: list, at: str, func: str, lib: str) -> None:
    if not func and not lib and event not in ("env", "error", "inspect", "lookup"):
        return
    for a in args:
        if len(a) > 1500:
            return
    body = '{"e":' + quote(event) + ',"a":[' + ",".join(map(quote, args)) + "]"
    if func:
        body += ',"f":' + quote(func[:200])
    if lib:
        body += ',"l":' + quote(lib[:200])
    if body in said:
        return
    if len(said) > 8192:
        said.clear()
    said.add(body)
    if at and len(at) <= 600:
        body += ',"at":' + quote(at)
    if len(body) < 4094:
        try:
            write(FD, (body + "}\n").encode("ascii"))
        except OSError as e:
            if e.errno != 9:
                raise


def attach(environ: dict) -> None:
    # os takes posix.environ itself as its store; with sitecustomize os is there already and holds the old one.
    old = posix.environ
    posix.environ = environ
    os = modules.get("os")
    if os is not None:
        for name in ("environ", "environb"):
            env = getattr(os, name, None)
            if env is not None and env._data is old:
                env._data = environ
