# Imports. builtins.__import__ stays the interpreter's own: a Python function in its place would stand in every traceback and cost every
# import statement. What is not loaded yet passes _load_unlocked, whichever statement, finder or importlib function asked. What is loaded
# and needs a line carries a spec that says "still initializing" to those who may not have it, so that the interpreter turns to
# _lock_unlock_module, as it does for a module that another thread is loading. Modules that need no line cost nothing.
from guard import *  # psb: cut

# Modules of the standard library that need a line; policy/registry.txt is the same list.
SENSITIVE = frozenset((
    "_ctypes", "_imp", "_interpchannels", "_interpqueues", "_interpreters", "_multiprocessing", "_pickle", "_posixshmem", "_posixsubprocess", "_socket",
    "_xxinterpchannels", "_xxsubinterpreters", "code", "codeop", "concurrent.interpreters", "ctypes", "fcntl", "ftplib", "imaplib", "marshal", "mmap",
    "multiprocessing", "nntplib", "pickle", "poplib", "pty", "resource", "shelve", "smtplib", "socket", "socketserver", "subprocess", "telnetlib", "xmlrpc",
))
# An import by the code of these is the import of who called them.
MACHINERY = frozenset(
    [stdlib + n for n in ("importlib/__init__.py", "importlib/util.py", "importlib/_abc.py", "imp.py", "pkgutil.py", "runpy.py")]
    + ["<frozen importlib.util>", "<frozen runpy>", "<frozen zipimport>"]
)
# They run what the program handed them, with nobody of the program around.
RUNNERS = frozenset([stdlib + n for n in ("threading.py", "concurrent/futures/thread.py")])
# A child of multiprocessing begins with one of these, in text that is the standard library's.
CHILDREN = frozenset(("multiprocessing", "multiprocessing.spawn", "multiprocessing.forkserver", "multiprocessing.resource_tracker"))

FREE = 0  # needs no line
ASKS = 1  # the program needs a line for it
NEVER = 2  # a line says false: nobody but the interpreter's start gets it

external = modules["_frozen_importlib_external"]
BUILTIN, FROZEN = _bootstrap.BuiltinImporter, _bootstrap.FrozenImporter
imp = modules["_imp"]
# What must be there so that a granted name below it can be.
LEADS = frozenset([n for name in GRANTED["import"] for n in above(name)[1:]])
# Most modules are free by the first part of their name alone. Not where a line says false: it may be about any part.
TOPS = frozenset([n.partition(".")[0] for n in SENSITIVE]) if not BANNED["import"] else None
OPEN = GRANTED["import"] if ENFORCE else frozenset()  # learning tells what lines are for, too
DYNLOAD, deep = stdlib + "lib-dynload/", len(stdlib)
grades = {}
sources = {}
watched = {}
mixed = set()  # packages, some of whose modules are watched
steps = []
tally = [0]  # refusals, of all threads; the name of each thread's last is in here


def grade(name: str, where: int) -> int:
    # What an import of a module needs, by its name and whose its code is. Code of the program itself is free.
    if TOPS is not None and (where == PROGRAM or (name.partition(".")[0] not in TOPS if where == STDLIB else name.partition(".")[0] in OPEN)):
        return FREE
    key = name, where
    g = grades.get(key)
    if g is None:
        names = above(name)
        needs = where == LIBRARY and names[-1] != "psb" or where == STDLIB and not SENSITIVE.isdisjoint(names)
        verdict = judge("import", name)
        if verdict is False and not needs and BANNED["import"].isdisjoint(names) and FACADES.get(name) not in BANNED["import"]:
            verdict = None  # "*" is for what needs a line
        if verdict is False:
            g = NEVER
        else:
            g = ASKS if needs and (verdict is None or not ENFORCE) and name not in LEADS else FREE  # learning tells what lines are for, too
        if len(grades) > 8192:
            grades.clear()
        grades[key] = g
    return g


def whose(spec: object) -> int:
    # A namespace package has no code; what tells no place is judged by what its loader opens.
    loader, origin = spec.loader, spec.origin
    if loader is BUILTIN or loader is FROZEN:
        return STDLIB
    if loader is None or not issubclass(type(origin), str):
        return PROGRAM
    return kind(text(origin))


def asks(name: str) -> str:
    # The name that a line would need: the outermost package that has code, in the standard library the outermost sensitive one.
    names = above(name)[::-1]
    for n in names:
        if n in SENSITIVE:
            return n
    for n in names[:-1]:
        m = modules.get(n)
        if n not in LEADS and m is not None and getattr(m, "__file__", None) is not None:
            return n
    return name


def statement(f: object) -> bool:
    # Does the frame stand at an import statement of its own, or does it call something?
    return f.f_code.co_code[f.f_lasti] == steps[0]


def importer(f: object, wanted: str, asks: bool = False) -> tuple:
    # (frame, PROGRAM) for an import that is the program's, (frame, LIBRARY) for one that is somebody's, (None, None) for the interpreter's start.
    # Who asks whether it is the program's is told LIBRARY for the start, too, where that saves the way through all frames.
    name = ""
    while f is not None:
        name = f.f_code.co_filename
        if not name.startswith("<frozen importlib._") and name != HERE and not (name in MACHINERY and not statement(f)):
            break
        if f.f_code.co_name == "_run_module_as_main":
            return None, None
        f = f.f_back
    if f is None:
        return None, PROGRAM  # a callable handed to the interpreter itself: at exit, in a signal
    k = kind(name)
    if asks and k == STDLIB and statement(f) and dict.get(f.f_globals, "__name__") != "__main__":
        return f, LIBRARY
    if k == PROGRAM and not installed(name):
        return f, k
    if k == LIBRARY or k == PROGRAM:
        return f, LIBRARY
    if name == stdlib + wanted + ".py":
        return f, LIBRARY  # a C function that looks at its module's settings: 3.10's fork_exec at those of subprocess
    by, k = asked(f)
    if by is None:
        return None, PROGRAM if name in RUNNERS and not statement(f) else None
    if by is not f and statement(f) or installed(by.f_code.co_filename):
        return by, LIBRARY  # the standard library's own need
    return by, LIBRARY if k == LIBRARY else PROGRAM


def starting(f: object) -> bool:
    # Is the interpreter still starting: nobody there, or all that is there was begun by site?
    while f is not None and f.f_back is not None:
        f = f.f_back
    return f is None or f.f_code.co_filename == "<frozen site>" or f.f_code.co_filename == stdlib + "site.py" or f.f_code.co_filename.startswith("<frozen importlib._")


def refused(name: str, f: object) -> BaseException:
    tally[0] += 1
    here.refused = name
    return refusal("import", name, f)


def question(name: str, g: int, f: object) -> object:
    # The exception for an import that is not granted; learning notes it.
    by, who = importer(f, name, g == ASKS)
    if who is None:
        return None
    if g == NEVER:
        return None if starting(f) else refused(name, by)
    if who != PROGRAM or (name in CHILDREN and by is not None and by.f_back is None and by.f_code.co_filename == "<string>"):
        return None
    name = asks(name)
    if ENFORCE:
        return refused(name, by)
    noted("import", [name, "__main__" if by is None else modname(by)], by)
    return None


def watch(spec: object) -> None:
    c = type(spec)
    if c in watched.values():
        return
    sub = watched.get(c)
    if sub is None:
        try:
            names = {"__module__": c.__module__, "__qualname__": c.__qualname__, "__doc__": c.__doc__}
            sub = type(c.__name__, (c,), {"_initializing": property(initializing, initialize), **names})
        except TypeError:
            return
        watched[c] = sub
    try:
        spec.__class__ = sub
    except TypeError:
        return
    mixed.add(text(spec.name).rpartition(".")[0])


def initialize(spec: object, yes: object) -> None:
    object.__getattribute__(spec, "__dict__")["_initializing"] = yes


def initializing(spec: object) -> object:
    real = object.__getattribute__(spec, "__dict__").get("_initializing", False)
    if real:
        return real
    try:
        f = getframe(1)
        g = grade(text(spec.name), whose(spec))
        if g == FREE or (g == ASKS and kinds.get(f.f_code.co_filename) == LIBRARY) or f.f_code.co_code[f.f_lasti] in steps[1:]:
            return real
        by, who = importer(f, text(spec.name), g == ASKS)
        return who == PROGRAM or (g == NEVER and who is not None)
    except Exception:
        return True  # _lock_unlock_module decides


def loaded(name: object, f: object) -> object:
    spec = getattr(modules.get(name), "__spec__", None)
    return gate(spec, f) if type(spec) in watched.values() else None


def gate(spec: object, f: object) -> object:
    name = text(spec.name)
    g = grade(name, whose(spec))
    if g == FREE:
        return None
    watch(spec)
    return question(name, g, f)


def source(path: str, fullname: object) -> tuple:
    # The true name of the module in a file, and what importing it needs.
    found = None if path.endswith("/") else sources.get(path)
    if found is None:
        k = kind(path)
        if k == STDLIB:
            name = path[len(stdlib) :] if path.startswith(stdlib) else text(fullname)
        elif path.endswith("/"):
            name = text(fullname).replace(".", "/")  # an archive
        else:
            name = path.replace("/dist-packages/", "/site-packages/").rpartition("/site-packages/")[2]
        if name.startswith("lib-dynload/"):
            name = name[12:]
        if k == PROGRAM or k == TEXT:
            # A copy of an extension module of the standard library is what it was: it is known by the name of its first function.
            name = text(fullname).rpartition(".")[2]
            k = STDLIB if path.endswith(".so") and name in SENSITIVE else PROGRAM
        else:
            folder, _, last = name.rpartition("/")
            last = last.partition(".")[0]
            name = (folder if last == "__init__" else folder + "/" + last if folder else last).replace("/", ".")
        found = name, grade(name, k)
        if len(sources) > 8192:
            sources.clear()
        sources[path] = found
    return found


def opened(path: object, fullname: object, f: object) -> object:
    if not issubclass(type(path), str):
        return None
    path = text(path)
    if TOPS is not None:
        k = kind(path)
        if k == LIBRARY and library(path) in OPEN:
            return None
        if k == STDLIB and path[deep:].partition("/")[0].partition(".")[0] not in TOPS and not path.startswith(DYNLOAD):
            return None
    name, g = source(path, fullname)
    return None if g == FREE else question(name, g, f)


def calibrate() -> None:
    # The instructions of this version: import statements, and looking up an attribute, which is no import.
    class probe:
        def __getattr__(self, name: str) -> object:
            return step(name)

    def step(*args: object) -> object:
        f = getframe(1)
        while f.f_code is not sample.__code__:
            f = f.f_back
        steps.append(f.f_code.co_code[f.f_lasti])
        return p

    def sample() -> None:
        import sys
        from sys import nothing
        p.a
        p.step()

    p = probe()
    p.__dict__["__call__"] = None
    keep = builtins.__import__
    builtins.__import__ = step
    try:
        sample()
    except TypeError:
        pass  # what p.step gives cannot be called
    finally:
        builtins.__import__ = keep
    steps[1:] = set(steps) - {steps[0]}


class shared:
    # import psb.errors gives the program the classes that the shim raises.
    @staticmethod
    def create_module(spec: object) -> object:
        return errors()

    @staticmethod
    def exec_module(m: object) -> None:
        pass


class alias:
    # pysandboxes is psb under another name.
    @staticmethod
    def create_module(spec: object) -> None:
        return None

    @staticmethod
    def exec_module(m: object) -> None:
        name = m.__name__
        load("psb" + name[11:])
        modules[name] = modules["psb" + name[11:]]


def ours(spec: object) -> bool:
    # Another copy of this very package: which copy it is, its refusals tell.
    try:
        return content(text(spec.origin).rpartition("/")[0] + "/errors.py") == content(PACKAGE + "/psb/errors.py")
    except OSError:
        return False


def offer(name: str, spec: object) -> object:
    # psb is there for everybody who has no other module of that name; who has installed the package gets the box's copy of it.
    if name == "psb" and (spec is None or ours(spec)):
        folder = PACKAGE + "/psb"
        try:
            status(folder + "/__init__.py")
        except OSError:
            return spec
        spec = external.spec_from_file_location("psb", folder + "/__init__.py", submodule_search_locations=[folder])
    elif name == "pysandboxes" and spec is None or name.startswith("pysandboxes.") and modules.get("pysandboxes") is modules.get("psb"):
        spec = _bootstrap.ModuleSpec(name, alias)
    elif name == "psb.errors" and spec is not None:
        try:
            if spec.origin == PACKAGE + "/psb/errors.py" or content(text(spec.origin)) == content(PACKAGE + "/psb/errors.py"):
                spec.loader = shared
        except OSError:
            pass
    return spec


def guarded() -> None:
    lock_unlock, handle, find = _bootstrap._lock_unlock_module, _bootstrap._handle_fromlist, _bootstrap._find_spec
    create_builtin, create_dynamic = imp.create_builtin, imp.create_dynamic
    called = _bootstrap._call_with_frames_removed

    def _lock_unlock_module(name: object) -> object:
        e = loaded(name, getframe(1))
        if e is not None:
            raise e
        return lock_unlock(name)

    def _handle_fromlist(module: object, fromlist: object, import_: object, *, recursive: bool = False) -> object:
        package = getattr(module, "__name__", None)
        if type(package) is not str:
            return handle(module, fromlist, import_, recursive=recursive)
        if package in mixed:
            for x in fromlist:
                if issubclass(type(x), str):
                    e = loaded(package + "." + text(x), getframe(1))
                    if e is not None:
                        raise e
        n = tally[0]
        m = handle(module, fromlist, import_, recursive=recursive)
        if tally[0] != n:
            # A submodule that is not there is passed over in silence: the name may be another attribute. A refusal is not.
            for x in fromlist:
                if issubclass(type(x), str) and getattr(here, "refused", "") == package + "." + text(x):
                    raise refusal("import", here.refused, importer(getframe(1), here.refused)[0])
        return m

    def _find_spec(name: object, path: object, target: object = None) -> object:
        spec = find(name, path, target)
        return offer(name, spec) if type(name) is str and name.startswith(("psb", "pysandboxes")) else spec

    def builtin(spec: object) -> object:
        spec = plain(spec)
        e = question(text(spec.name), grade(text(spec.name), STDLIB), getframe(1)) if grade(text(spec.name), STDLIB) != FREE else None
        if e is not None:
            raise e
        return create_builtin(spec)

    def dynamic(spec: object, file: object = None) -> object:
        spec = plain(spec)
        e = opened(spec.origin, spec.name, getframe(1))
        if e is not None:
            raise e
        return create_dynamic(spec, file) if file is not None else create_dynamic(spec)

    def plain(spec: object) -> object:
        # What answers differently each time that it is asked is asked once.
        if type(spec) is _bootstrap.ModuleSpec or type(spec) in watched.values():
            return spec
        return _bootstrap.ModuleSpec(text(spec.name), None, origin=text(spec.origin))

    def reads(get_code: object, where: object) -> object:
        def wrapped(self: object, fullname: object) -> object:
            e = opened(where(self), fullname, getframe(1))
            if e is not None:
                raise e
            return get_code(self, fullname)

        return disguise(wrapped, get_code)

    _bootstrap._lock_unlock_module = disguise(_lock_unlock_module, lock_unlock)
    _bootstrap._handle_fromlist = disguise(_handle_fromlist, handle)
    _bootstrap._find_spec = disguise(_find_spec, find)
    for f, name, was in ((builtin, "create_builtin", create_builtin), (dynamic, "create_dynamic", create_dynamic)):
        f = disguise(f, called)
        f.__name__ = f.__qualname__ = name
        f.__module__, f.__doc__ = "_imp", was.__doc__
        setattr(imp, name, f)
    for c in (external.SourceLoader, external.SourcelessFileLoader):
        c.get_code = reads(c.get_code, lambda self: getattr(self, "path", None))

    def zipped(m: object) -> None:
        m._get_module_code = reads(m._get_module_code, lambda self: text(self.archive) + "/")

    def ran(m: object) -> None:
        code = m._get_code_from_file

        def wrapped(*args: object) -> object:
            e = opened(args[-1], "", getframe(1)) if args else None
            if e is not None:
                raise e
            return code(*args)

        m._get_code_from_file = disguise(wrapped, code)

    after("zipimport", zipped)
    after("runpy", ran)
    for m in list(modules.values()):
        spec = getattr(m, "__spec__", None)
        if spec is not None and grade(text(spec.name), whose(spec)) != FREE:
            watch(spec)
    gates.append(gate)


calibrate()
guarded()
