# What the policy says of Python, and how its word is given: enforcing refuses, learning notes what a rule would have to allow.
# One judgement for both, so that what was learned is what is asked for.
from common import *  # psb: cut
ENFORCE = True  # psb: cut

RULES = {"import": {}, "call": {}, "eval": {}, "program": ""}
compile, eval, exec, load = builtins.compile, builtins.eval, builtins.exec, builtins.__import__
module = type(sys)
_bootstrap = modules["_frozen_importlib"]
unmarshal = modules["marshal"].loads
TAG, MADE = str(sys.implementation.cache_tag), modules["_frozen_importlib_external"].MAGIC_NUMBER + b"\x01\0\0\0"  # of byte code that is not checked
private = {}  # modules of PACKAGE that are the shim's own, by name
arrivals = {}  # what waits for a module, by its name


def broken(e: BaseException) -> None:
    # A layer that is half there would let pass what it was to refuse: enforcing ends here.
    if ENFORCE:
        write(2, ("psb: the layer in Python cannot start: " + type(e).__name__ + ": " + BaseException.__str__(e) + "\n").encode("utf-8", "replace"))
        end(125)


def content(name: str) -> bytes:
    # Read by the system's own calls: io is not there yet when the rules are read.
    fd = opening(name, unshared)
    try:
        parts = []
        while True:
            part = reading(fd, 1 << 20)
            if not part:
                return b"".join(parts)
            parts.append(part)
    finally:
        closing(fd)


def rules() -> None:
    # A box whose rules cannot be read grants nothing.
    try:
        raw = content("RULES_PATH")
    except OSError:
        return
    RULES.update(unmarshal(raw))


rules()
GRANTED = {op: frozenset([n for n, yes in RULES[op].items() if yes]) for op in ("import", "call")}
BANNED = {op: frozenset([n for n, yes in RULES[op].items() if not yes]) for op in ("import", "call")}
# A rule for the module that programs import speaks for what it is made of, too.
FACADES = {
    "_ctypes": "ctypes", "_interpchannels": "concurrent.interpreters", "_interpqueues": "concurrent.interpreters", "_interpreters": "concurrent.interpreters",
    "_multiprocessing": "multiprocessing", "_pickle": "pickle", "_posixshmem": "multiprocessing", "_posixsubprocess": "subprocess", "_signal": "signal",
    "_socket": "socket", "_thread": "threading", "_xxinterpchannels": "concurrent.interpreters", "_xxsubinterpreters": "concurrent.interpreters", "posix": "os",
}


def above(name: str) -> list:
    # The name of a module and the packages it lies in.
    out = [name]
    while "." in name:
        name = name.rpartition(".")[0]
        out.append(name)
    return out


def judge(op: str, name: str, more: tuple = ()) -> object:
    # False when any rule that covers the name says false, True when one allows it, None when none speaks. Wider names of a call (its
    # category) are given in more; "*" covers all.
    names = [name]
    if op == "import":
        names = above(name)
        facade = FACADES.get(names[-1])
        if facade is not None:
            names += above(facade)
    yes, no = GRANTED[op], BANNED[op]
    verdict = True if "*" in yes else None
    if "*" in no:
        return False
    for n in [*names, *more]:
        if n in no:
            return False
        if n in yes:
            verdict = True
    return verdict


def belongs(f: object) -> int:
    # Whose the text of a frame without a file is: given with -c or typed, the program's; else that of the module in whose names it runs.
    g = f.f_globals
    if isinstance(g, dict):
        name, file = dict.get(g, "__name__"), dict.get(g, "__file__")
        if type(name) is str and name == "__main__":
            return PROGRAM
        if type(file) is str:
            return kind(file)
    return TEXT


def installed(name: str) -> bool:
    # Is this the script that starts an installed program (bin/flask of a virtual environment)? Its imports are not asked for. The program
    # itself is a library: what it imports is its own affair, what it loads of the project is the project's.
    return name == RULES["program"] != ""


def asked(f: object) -> tuple:
    # (frame, PROGRAM | LIBRARY | TEXT): the nearest frame from f outwards that is not of the standard library; (None, None) where there is none.
    # TEXT is evaluated text of the program: what a library evaluates is the library's. A program that is itself of the standard library
    # (-m http.server) is the program.
    found = None
    while f is not None:
        k = kind(f.f_code.co_filename)
        if k == STDLIB:
            name = dict.get(f.f_globals, "__name__")
            if type(name) is str and name == "__main__":
                k = PROGRAM
        elif k == TEXT:
            k = belongs(f)
            if k == TEXT and found is None:
                found = f
        if k == PROGRAM or k == LIBRARY:
            if found is None:
                return f, k
            return found, LIBRARY if k == LIBRARY else TEXT
        f = f.f_back
    return (None, None) if found is None else (found, TEXT)


def spot(f: object) -> tuple:
    # (place as asker() says it, function, library)
    f, k = asked(f)
    if f is None:
        return "", "__main__", ""
    file = f.f_code.co_filename
    _, func, lib = asker(f)
    if k == LIBRARY:
        lib = library(file) or lib
    return file + ":" + text(f.f_lineno or 0), func or modname(f) or "__main__", lib


def quoted(s: str) -> str:
    plain = s != ""
    for c in s:
        plain = plain and (c.isalnum() or c in "_.:/-")
    return s if plain else "'" + s.replace("'", "'\\''") + "'"


def refusal(op: str, obj: str, f: object) -> BaseException:
    # Enforcing: the refusal is noted, and the exception given back: the caller raises it. f is the frame to look for the asker from.
    at, func, lib = spot(f)
    emit("denied", [op, obj], at, func, lib)
    family = errors()
    more = "why" if op in BANNED and judge(op, obj) is False else "add"
    hint = "psb policy " + more + " " + op + " " + quoted(obj)
    # What begins with "psb:" is psb's word alone, outside.
    words = op + " " + obj + (" is refused by the policy; see: " if more == "why" else " is not in the policy; to allow it: ") + hint
    if op == "import":
        e = family.RuleModuleNotFoundError(words)
        e.msg, e.name = words, obj
    elif op == "call":
        e = family.RuleApiPermissionError(words)
        e.qualname = obj
    else:
        e = family.RuleEvalPermissionError(words)
        e.target, e.key = obj.partition(":")[2], obj.partition(":")[0]
    e.hint, e.denials = hint, (op + " " + obj,)
    return e


def noted(op: str, args: list, f: object) -> None:
    # Learning: what enforcing would ask for. What a library asks is asked by who called it: of a suite, by the application or by a test.
    at, func, lib = spot(f)
    by = asked(f)[0]
    emit(op, args, at if by is None else asker(by)[0] or at, func, lib)


def errors() -> object:
    # The module psb.errors; also what `import psb.errors` gives the program.
    try:
        return own("psb.errors")
    except Exception as e:
        if theirs(e):
            raise
    return private.setdefault("psb.errors", bare())


def bare() -> object:
    # The refusals, where the package cannot be read.
    m = module("psb.errors")
    base = type("SandBoxError", (RuntimeError,), {"__module__": "psb.errors", "hint": "", "denials": ()})
    m.SandBoxError = base
    m.RuleModuleNotFoundError = type("RuleModuleNotFoundError", (base, ModuleNotFoundError), {"__module__": "psb.errors"})
    for name in ("RulePermissionError", "RuleApiPermissionError", "RuleEvalPermissionError"):
        setattr(m, name, type(name, (base, PermissionError), {"__module__": "psb.errors", "qualname": "", "category": "", "target": "", "key": ""}))
    return m


def compiled(file: str) -> object:
    # The code of a file of PACKAGE. What psb had this interpreter make of it lies beside it, and is as much psb's own as the text.
    folder, _, name = file.rpartition("/")
    try:
        raw = content(folder + "/__pycache__/" + name[:-2] + TAG + ".pyc")
        if raw[:8] == MADE:
            return unmarshal(raw[16:])
    except Exception as e:
        if theirs(e):
            raise
    return compile(content(file), file, "exec", 0, True)


def own(name: str) -> object:
    # A module of PACKAGE for the shim's own use: in no table that the program sees, with built-ins that it cannot have changed.
    m = private.get(name)
    if m is not None:
        return m
    half = getattr(here, "half", None)
    if half is None:
        half = here.half = {}  # what this thread is loading: its parts ask for it
    elif name in half:
        return half[name]
    busy = getattr(here, "busy", False)
    here.busy = True
    try:
        file = PACKAGE + "/" + name.replace(".", "/")
        package = name
        try:
            status(file + "/__init__.py")
            file += "/__init__.py"
        except OSError:
            file += ".py"
            package = name.rpartition(".")[0]
        code = compiled(file)
        m = module(name)
        m.__file__ = file
        m.__package__ = package
        if package == name:
            m.__path__ = [file[:-12]]
        m.__builtins__ = {**pristine, "__import__": fetch}
        # dataclasses looks its class's module up by name.
        before = modules.get(name)
        modules[name] = half[name] = m
        try:
            exec(code, m.__dict__)
        finally:
            del half[name]
            if modules.get(name) is m:
                if before is None:
                    del modules[name]
                else:
                    modules[name] = before
        return private.setdefault(name, m)
    finally:
        here.busy = busy


def fetch(name: str, globals: object = None, locals: object = None, fromlist: object = (), level: int = 0) -> object:
    # The import statement of the shim's own modules: what lies in PACKAGE stays theirs.
    if level:
        base = globals["__package__"]
        for _ in range(level - 1):
            base = base.rpartition(".")[0]
        name = base + "." + name if name else base
    if name != "psb" and not name.startswith("psb."):
        return load(name, globals, locals, fromlist, level)
    for n in above(name)[::-1]:
        m = own(n)
    for sub in fromlist or ():
        if not hasattr(m, sub) and hasattr(m, "__path__"):
            setattr(m, sub, own(name + "." + sub))
    return m if fromlist else own("psb")


def after(name: str, do: object) -> None:
    # do(module) each time that the module of this name has been executed, whoever imports it; at once where it is there already.
    arrivals.setdefault(name, []).append(do)
    m = modules.get(name)
    # Past the answer that imports gives to those who may not have the module.
    if m is not None and getattr(getattr(m, "__spec__", None), "__dict__", {}).get("_initializing", False) is not True:
        do(m)


def disguise(f: object, like: object) -> object:
    # f in the place of a function of the import system: errors pass it without a trace, as they pass the original.
    code = {"co_filename": like.__code__.co_filename, "co_name": like.__code__.co_name, "co_firstlineno": like.__code__.co_firstlineno}
    if version >= (3, 11):
        code["co_qualname"] = like.__code__.co_qualname
    f.__code__ = f.__code__.replace(**code)
    f.__name__, f.__qualname__, f.__module__, f.__doc__ = like.__name__, like.__qualname__, like.__module__, like.__doc__
    return f


def arrived(name: object, m: object) -> object:
    if type(name) is str:
        for do in arrivals.get(name, ()):
            do(m)
    return m


pristine = dict(builtins.__dict__)
gates = []  # gate(spec, frame) gives the exception that keeps a module from being loaded, or None


def doors() -> None:
    # Every module that is loaded passes _load_unlocked, whichever finder found it, and _exec when it is executed again.
    load_unlocked, execute = _bootstrap._load_unlocked, _bootstrap._exec

    def _load_unlocked(spec: object) -> object:
        for gate in gates:
            e = gate(spec, getframe(1))
            if e is not None:
                raise e
        m = load_unlocked(spec)
        return m if spec.name not in arrivals else arrived(spec.name, m)

    def _exec(spec: object, module: object) -> object:
        for gate in gates:
            e = gate(spec, getframe(1))
            if e is not None:
                raise e
        return arrived(spec.name, execute(spec, module))

    _bootstrap._load_unlocked = disguise(_load_unlocked, load_unlocked)
    _bootstrap._exec = disguise(_exec, execute)


doors()
