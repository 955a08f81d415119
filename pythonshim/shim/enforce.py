# Enforcing: explain what was refused. No audit hook: one that ignores every open costs 2-4 % of a loop of opens. What
# is watched costs nothing until it happens: a variable that is not there, an error that nobody caught.
from inspect import *  # psb: cut


Group = getattr(sys.modules["builtins"], "BaseExceptionGroup", None)  # from 3.11


def unset(key: object) -> None:
    if not isinstance(key, bytes) or getattr(here, "busy", False):
        return
    try:
        here.busy = True
        f = getframe(0)
        while f is not None and (f.f_code.co_filename == HERE or text(dict.get(f.f_globals, "__name__")) in ("os", "_collections_abc")):
            f = f.f_back
        name = text(key)
        if name in said:
            return
        at, func, lib = asker(f)
        if func or lib:
            # Nobody: the interpreter's own start, which looks for many names.
            said.add(name)
            emit("env", [name, "unset"], at, func, lib)
    except BaseException as e:
        if theirs(e):
            raise
    finally:
        here.busy = False


class environ(dict):
    # Found names never reach Python code. Copies and pickles are plain dicts.
    __slots__ = ()

    def __missing__(self, key: object) -> None:
        unset(key)
        raise KeyError(key)

    def __reduce_ex__(self, protocol: int) -> tuple:
        return dict, (dict(self),)


def place(tb: object) -> tuple:
    # Where an error was raised, as asker() says it: the innermost frame of the program and the library below it.
    at = func = lib = ""
    n = 0
    while tb is not None and n < 1024:
        n += 1
        f = tb.tb_frame
        name = f.f_code.co_filename
        if owns(f):
            at, func, lib = name + ":" + text(tb.tb_lineno or 0), funcname(f), ""
        elif kind(name) == LIBRARY and not lib:
            lib = library(name)
        if not func and dict.get(f.f_globals, "__name__") == "__main__":
            func = modname(f)
        tb = tb.tb_next
    return at, func, lib


def lookup(f: object) -> list:
    # Host and port that a look-up is for, from the frame of socket.getaddrinfo: the name server hears the name alone.
    if f is None or f.f_code.co_name != "getaddrinfo" or dict.get(f.f_globals, "__name__") != "socket":
        return []
    given = f.f_locals
    host, port = given.get("host"), given.get("port")
    if isinstance(host, bytes):
        host = bytes.decode(host, "ascii", "replace")
    return [host, text(port)] if type(host) is str and type(port) in (int, str) else []


def wanted(tb: object) -> list:
    n = 0
    while tb is not None and n < 1024:
        n += 1
        found = lookup(tb.tb_frame)
        if found:
            return found
        tb = tb.tb_next
    return []


def named(tb: object) -> list:
    # Hosts and ports in the call that failed, where C looked a name up by itself: sock.connect((host, port)). The half outside takes those of
    # the name that was refused.
    tb = last(tb)
    if tb is None:
        return []
    said_here, f = said_there(tb), tb.tb_frame
    pairs = [c[:2] for c in f.f_code.co_consts if type(c) is tuple and len(c) > 1]
    hosts = [w for quoted in ("'", '"') for w in said_here.split(quoted)[1::2]]
    ports = []
    for w in "".join([c if c.isalnum() or c == "_" else " " for c in said_here]).split():
        found = f.f_locals.get(w, dict.get(f.f_globals, w))
        ports += [int(w)] if w.isdigit() and len(w) < 6 else [found] if type(found) is int else []
        hosts += [found] if type(found) is str else []
        pairs += [found[:2]] if type(found) is tuple and len(found) > 1 else []
    pairs += [(h, p) for h in hosts[:8] for p in ports[:8]]
    return [[h, text(p)] for h, p in pairs if type(h) is str and type(p) is int][:16]


def pick_lookup(entry: tuple, f: object) -> object:
    # Noted before it is known whether the name will be refused: most programs catch that error.
    if not getattr(here, "busy", False):
        try:
            here.busy = True
            found = lookup(f)
            if found:
                emit("lookup", found, *asker(f))
        except BaseException as e:
            if theirs(e):
                raise
        finally:
            here.busy = False
    return entry[0]


def lookups(m: object) -> None:
    raw = dict.get(m.__dict__, "getaddrinfo")
    if type(raw) is builtin:
        m.getaddrinfo = shut(raw, pick_lookup, "socket.getaddrinfo", "")


def folders(tb: object) -> bool:
    # Was it a folder that could not be made? The error does not say; whoever raised it names mkdir, or does not. In doubt it was.
    code = None
    n = 0
    while tb is not None and n < 1024:
        n += 1
        code = tb.tb_frame.f_code
        tb = tb.tb_next
    return code is not None and "mkdir" in code.co_names


def last(tb: object) -> object:
    # Where the error was raised.
    n = 0
    while tb is not None and tb.tb_next is not None and n < 1024:
        n += 1
        tb = tb.tb_next
    return tb


def said_there(tb: object) -> str:
    # The text of the call that failed; of its line alone where Python keeps no columns (below 3.11). "" without the source.
    if tb is None:
        return ""
    code = tb.tb_frame.f_code
    first, end_line, start, stop = tb.tb_lineno, tb.tb_lineno, None, None
    if hasattr(code, "co_positions"):
        first, end_line, start, stop = list(code.co_positions())[tb.tb_lasti // 2]
    if not first or not code.co_filename.startswith("/"):
        return ""
    try:
        fd = opening(code.co_filename, unshared)
    except OSError:
        return ""
    try:
        lines = b"".join(iter_reads(fd)).split(b"\n")[first - 1 : end_line]
    finally:
        closing(fd)
    if lines and start is not None and stop is not None:
        lines[-1] = lines[-1][:stop]
        lines[0] = lines[0][start:]
    return bytes.decode(b"\n".join(lines), "utf-8", "replace")


def iter_reads(fd: int) -> list:
    out = []
    while len(out) < 64:
        out.append(reading(fd, 1 << 16))
        if not out[-1]:
            break
    return out


def writes(tb: object) -> bool:
    # Was a file to be changed that could not be opened? The error does not say. pathlib and codecs keep the mode in a variable, a call says it
    # in its text. In doubt it was to be read.
    words = []
    said_here = said_there(last(tb))
    n = 0
    while tb is not None and n < 1024:
        n += 1
        if tb.tb_frame.f_code.co_name == "open":
            words = [text(tb.tb_frame.f_locals.get("mode"))]
        tb = tb.tb_next
    for quoted in ("'", '"'):
        parts = said_here.split(quoted)
        words += [parts[i] for i in range(1, len(parts), 2) if parts[i - 1].rstrip()[-1:] in (",", "=")]
    modes = [w for w in words if 0 < len(w) <= 4 and not set(w) - set("rwabxt+U")]
    return any(set(m) & set("wax+") for m in modes) or "O_WRONLY" in said_here or "O_RDWR" in said_here


def whole(name: object, tb: object) -> str:
    # A file's name from the root on: outside nobody knows which folder the program had gone to. A word that was looked for along PATH stays.
    if not issubclass(type(name), (str, bytes)):
        return ""
    name = text(name)
    if not name or name.startswith("/"):
        return name
    code = tb.tb_frame.f_code if tb is not None else None
    if "/" not in name and (code is None or code.co_name in ("_execute_child", "_execvpe") or "posix_spawnp" in code.co_names):
        return name
    try:
        return getcwd() + "/" + name
    except OSError:
        return name


def explain(e: object) -> None:
    # The error, what caused it and what it hid, as far as they are refusals of the system or of the import.
    if getattr(here, "busy", False):
        return
    try:
        here.busy = True
        todo = [e]
        by = ("", "", "")
        seen = set()
        while todo and len(seen) < 64:
            e = todo.pop(0)
            c = type(e)
            if not issubclass(c, BaseException) or id(e) in seen:
                continue
            # Read past the class of the exception: it may be the program's and answer with code of its own.
            seen.add(id(e))
            todo.append(BaseException.__cause__.__get__(e, c))
            todo.append(BaseException.__context__.__get__(e, c))
            if Group is not None and issubclass(c, Group):
                todo.extend(Group.exceptions.__get__(e, c)[:16])
            tb = BaseException.__traceback__.__get__(e, c)
            at, func, lib = place(tb)
            by = (at, func, lib) if func or lib else by  # what a library caught and told in its own words has lost the program's frames
            if c.__name__ == "gaierror" and wanted(tb):
                emit("resolve", wanted(tb), *by)
            elif c.__name__ == "gaierror":
                for pair in named(tb):
                    emit("lookup", pair, *by)
            if issubclass(c, OSError):
                what = [c.__name__, text(OSError.errno.__get__(e, c)), *(whole(a.__get__(e, c), last(tb)) for a in (OSError.filename, OSError.filename2))]
                how = ["write"] if writes(tb) else ["folder"] if folders(tb) else []
                emit("error", what + how, at, func, lib)
            elif issubclass(c, ImportError):
                emit("error", [c.__name__, "import", text(ImportError.name.__get__(e, c)), text(ImportError.path.__get__(e, c))], at, func, lib)
    except BaseException as x:
        if theirs(x):
            raise
    finally:
        here.busy = False


def tidy(e: object) -> None:
    # What is about to be printed shows the program's frames, not ours.
    todo = [e]
    seen = set()
    while todo and len(seen) < 64:
        e = todo.pop()
        c = type(e)
        if not issubclass(c, BaseException) or id(e) in seen:
            continue
        seen.add(id(e))
        todo += [BaseException.__cause__.__get__(e, c), BaseException.__context__.__get__(e, c)]
        if Group is not None and issubclass(c, Group):
            todo += Group.exceptions.__get__(e, c)[:16]
        old = BaseException.__traceback__.__get__(e, c)
        new = without(old)
        if new is not None or old is None:
            BaseException.with_traceback(e, new)


def install() -> None:
    attach(environ(posix.environ))
    inspect_at_end()
    calls()
    whenever("_socket", lookups)
    texts()
    # Both names of a hook are replaced, so "is the hook the original" stays true for those who ask.
    display = sys.excepthook
    thread = modules["_thread"]
    shown = getattr(thread, "_excepthook", None)

    def excepthook(*args: object) -> None:
        if len(args) == 3:
            explain(args[1])
            tidy(args[1])
        return display(*args)

    excepthook.__doc__ = display.__doc__
    excepthook.__module__ = "sys"
    excepthook.__qualname__ = "excepthook"
    sys.excepthook = sys.__excepthook__ = excepthook

    def threadhook(*args: object) -> None:
        if len(args) == 1:
            explain(getattr(args[0], "exc_value", None))
            tidy(getattr(args[0], "exc_value", None))
        return shown(*args)

    if shown is not None:
        threadhook.__doc__ = shown.__doc__
        threadhook.__module__ = "_thread"
        threadhook.__name__ = threadhook.__qualname__ = "_excepthook"
        thread._excepthook = threadhook
        threading = modules.get("threading")
        if threading is not None and threading.excepthook is shown:
            threading.excepthook = threadhook
            if hasattr(threading, "__excepthook__"):
                threading.__excepthook__ = threadhook
