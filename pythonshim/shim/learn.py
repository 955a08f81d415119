# Learning: name the asker of what the tracer is about to see, and the variables read by name.
from texts import *  # psb: cut

lines = set()
many = {}
scans = [{}]

# What a program, a host or a name is asked for with, so that the kernel's events have a reason.
CALLS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn", "os.system", "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname")
PATHS = {
    "open": ("open", 1), "sqlite3.connect": ("open", 1), "os.listdir": ("list", 1), "os.scandir": ("list", 1),
    "os.chmod": ("change", 1), "os.chown": ("change", 1), "os.link": ("change", 2), "os.mkdir": ("change", 1), "os.remove": ("change", 1),
    "os.rename": ("change", 2), "os.rmdir": ("change", 1), "os.symlink": ("change", 2), "os.truncate": ("change", 1), "os.utime": ("change", 1),
}


def importing(f: object) -> tuple:
    # Leaves the frames of the import system: the frame that asked for the import, and the module it is about to get.
    name = ""
    while f is not None:
        file = f.f_code.co_filename
        if file.startswith("<frozen importlib"):
            if f.f_code.co_name == "_find_and_load":
                name = text(f.f_locals.get("name"))
        elif file != stdlib + "importlib/__init__.py":
            break
        f = f.f_back
    return f, name


def again(what: str, name: object, f: object) -> bool:
    # The same line of the program asking for the same thing: a loop. Code of libraries may be asked by another each time.
    if f is None or not owns(f):
        return False
    line = (what, name, f.f_code, f.f_lineno)
    if line in lines:
        return True
    if len(lines) > 4096:
        lines.clear()
    lines.add(line)
    return False


def paths(event: str, args: tuple, f: object) -> None:
    # First what a walk through folders asks again and again: no more than a look whether its line has been noted for this one.
    first = args[0]
    if type(first) is str and f is not None:
        if many.get((event, first.rpartition("/")[0], f.f_code, f.f_lineno), 0) > 16:
            return
        # Every box has the time zones: no line of the policy wants a reason, and some libraries go through all of them.
        if first.startswith("/usr/share/zoneinfo/"):
            return
    what, n = PATHS[event]
    names = [text(a) for a in args[:n] if issubclass(type(a), (str, bytes))]
    if not names and what == "list":
        names = ["."]
    if not names:
        return
    if f is not None and f.f_code.co_filename.startswith("<frozen importlib"):
        if kind(names[0] + "/") != PROGRAM:
            return
        f, name = importing(f)
        at, func, lib = asker(f)
        emit(what, names, at, "import of " + name.partition(".")[0] if name else func, lib)
        return
    if len(names) == 1:
        # A line that goes through a folder: after some names one note speaks for the rest. And after some folders it is taken to go on so.
        folder, slash, _ = names[0].rpartition("/")
        code = f and f.f_code
        at = f and f.f_lineno
        line = (event, folder, code, at)
        n = many.get(line, 0)
        if n > 16 or again(what, names[0], f):
            return
        if f is not None and owns(f):
            if len(many) > 4096:
                many.clear()
            walked = many.get((event, code, at), 0)
            if n == 16 or walked > 2:
                many[(event, code, at)] = walked + 1
                names = [(folder if slash else getcwd()) + "/*"]
                n = 16
            many[line] = n + 1
        emit(what, names, *asker(f))
    elif not again(what, tuple(names), f):
        emit(what, names, *asker(f))


def reasons(event: str, args: tuple, f: object) -> None:
    at, func, lib = asker(f)
    if event in ("subprocess.Popen", "os.exec", "os.posix_spawn"):
        emit("exec", [text(args[0])], at, func, lib)
    elif event in ("os.spawn", "pty.spawn"):
        emit("exec", [text(args[1] if event == "os.spawn" else args[0])], at, func, lib)
    elif event == "os.system":
        emit("exec", ["/bin/sh"], at, func, lib)
    elif event in ("socket.connect", "socket.bind"):
        where = args[1]
        if issubclass(type(where), tuple):
            emit(event[7:], [text(x) for x in tuple.__getitem__(where, slice(0, 2))], at, func, lib)
        elif issubclass(type(where), (str, bytes)):
            emit(event[7:], ["unix", text(where)], at, func, lib)
    elif event == "socket.getaddrinfo":
        emit("resolve", [text(args[0]), text(args[1])], at, func, lib)
    elif event == "socket.gethostbyname":
        emit("resolve", [text(args[0]), ""], at, func, lib)


def loads(event: str, args: tuple, f: object) -> None:
    audit(event, args)


def moved(event: str, args: tuple, f: object) -> None:
    # Relative names mean something else from here on.
    said.clear()
    lines.clear()
    many.clear()


TABLE = {"os.chdir": moved}
TABLE.update((e, paths) for e in PATHS)
TABLE.update((e, reasons) for e in CALLS)
TABLE.update((e, loads) for e in ("sqlite3.enable_load_extension", "sqlite3.load_extension"))


def hook(event: str, args: tuple) -> None:
    do = TABLE.get(event)
    if do is None or getattr(here, "busy", False):
        return
    try:
        here.busy = True
        do(event, args, getframe(0).f_back)
    except BaseException as e:
        if theirs(e):
            raise
    finally:
        here.busy = False


def reads(env: dict, key: object, f: object) -> None:
    if not isinstance(key, bytes) or getattr(here, "busy", False):
        return
    try:
        here.busy = True
        if f is not None and f.f_code.co_name == "__getitem__" and dict.get(f.f_globals, "__name__") == "os":
            # Keys that an iteration over the whole environment has handed out are the same objects: dict(os.environ)
            # and its like come with those, a read by name comes with another.
            asked = f.f_locals.get("key")
            for scan in scans:
                if scan.get(id(asked)) is asked:
                    return
        while f is not None and text(dict.get(f.f_globals, "__name__")) in ("os", "_collections_abc"):
            f = f.f_back
        there = "set" if dict.__contains__(env, key) else "unset"
        if not again(there, bytes(key), f):
            emit("env", [text(key), there], *asker(f))
    except BaseException as e:
        if theirs(e):
            raise
    finally:
        here.busy = False


def scanning(f: object) -> None:
    # os._Environ.__iter__ is about to decode every name: keep the decoded objects of the last few such scans.
    if f is None or f.f_code.co_name != "__iter__" or dict.get(f.f_globals, "__name__") != "os":
        return
    owner = f.f_locals.get("self")
    scans.append({})
    del scans[:-8]
    decode = owner.decodekey
    if getattr(getattr(decode, "__code__", None), "co_filename", "") == HERE:
        return

    def decodekey(key: object) -> object:
        name = decode(key)
        scan = scans[-1]
        if len(scan) < 8192:
            scan[id(name)] = name
        return name

    owner.decodekey = decodekey


class environ(dict):
    # Every look-up by name passes here, also through os.environ and os.environb. Copies and pickles are plain dicts.
    __slots__ = ()

    def __getitem__(self, key: object) -> object:
        reads(self, key, getframe(0).f_back)
        return dict.__getitem__(self, key)

    def __contains__(self, key: object) -> bool:
        reads(self, key, getframe(0).f_back)
        return dict.__contains__(self, key)

    def get(self, key: object, default: object = None) -> object:
        reads(self, key, getframe(0).f_back)
        return dict.get(self, key, default)

    def __iter__(self) -> object:
        try:
            scanning(getframe(0).f_back)
        except BaseException as e:
            if theirs(e):
                raise
        return dict.__iter__(self)

    def __reduce_ex__(self, protocol: int) -> tuple:
        return dict, (dict.copy(self),)


def install() -> None:
    attach(environ(posix.environ))
    sys.addaudithook(hook)
    calls()
    texts()
