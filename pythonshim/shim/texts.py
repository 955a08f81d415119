# Evaluated text: what the program gives to eval, exec and compile runs under the rules of [python.eval], or not at all. What the standard
# library and the libraries evaluate is their own. Raw where [python.call] grants it: then there is no door.
from calls import *  # psb: cut

TEXTS = {"eval": eval, "exec": exec, "compile": compile}
memoryview = builtins.memoryview
RUNS, EXECUTES = _bootstrap._call_with_frames_removed.__code__, external._LoaderBasics.exec_module.__code__
nothing = (lambda: None).__code__.replace(co_filename="<psb>", co_name="<module>")  # not compiled: an interpreter's first compile() costs it 0.7 ms


def wants(short: str, f: object) -> bool:
    # Is the text the program's own? Its frame, or the library's that names the function, comes first; what only calls what it was given is
    # looked through (threading's run, and the import system for everybody but itself).
    if f is not None and text(f.f_code.co_filename) in PSBS:
        return False
    while f is not None:
        if kinds.get(f.f_code.co_filename) != STDLIB:
            k = origin(f)
            if k != STDLIB:
                return k != LIBRARY
        if short in f.f_code.co_names:
            return False
        f = f.f_back
    return True


def pick_text(entry: tuple, f: object) -> object:
    short = entry[4]
    if short == "exec" and f is not None and f.f_code is RUNS and f.f_back is not None and f.f_back.f_code is EXECUTES:
        return entry[0]  # an import statement; wants() would say so, too
    if not wants(short, f):
        return entry[0]
    if verdict([entry[2]], entry[3]) is False:
        return refuser(entry[2], entry[3])
    if not ENFORCE:
        return RECORDED[short]
    if "" in RULES["eval"]:
        return GUARDED[short]
    return refuser(entry[2], entry[3])


def scope(f: object, globals: object, locals: object) -> tuple:
    # What the built-in takes where it is given nothing: the caller's names. From 3.13 those of a function are a copy each time.
    if globals is None:
        if f is None:
            raise TypeError("eval and exec must be given globals and locals when called without a frame")
        globals = f.f_globals
        if locals is None:
            locals = f.f_locals
            if version >= (3, 13) and f.f_code.co_flags & 1:
                locals = dict(locals)
    elif locals is None:
        locals = globals
    return globals, locals


def engine() -> object:
    m = own("psb.evals")
    if m._profiles is None:
        armed(m)
    return m


def armed(m: object) -> None:
    # A copy for each: what the program does to its own changes nothing here.
    m._profiles = {n: {k: v if type(v) is str else [*v] for k, v in p.items()} for n, p in RULES["eval"].items()}


def readable(kind: str, source: object, *more: object) -> None:
    # What is no text, the built-in says in its own words.
    ast = modules.get("_ast")
    if issubclass(type(source), (str, bytes, type(body.__code__))) or (kind == "compile" and ast is not None and isinstance(source, ast.AST)):
        return
    try:
        memoryview(source)
    except TypeError:
        TEXTS[kind](source, *more)
        raise


def bounded(kind: str, source: object, globals: object, locals: object, f: object, options: dict) -> object:
    site = "" if f is None else f.f_code.co_filename + ":" + text(f.f_lineno or 0)
    m = engine()
    try:
        return m.evaluate(kind, source, globals, locals, m.profile(""), site, inherited=0 if f is None else f.f_code.co_flags, **options)
    except BaseException as e:
        if issubclass(type(e), errors().SandBoxError):
            told(e, f)
        raise BaseException.with_traceback(e, without(BaseException.__traceback__.__get__(e)))


def told(e: object, f: object) -> None:
    # What was refused is noted as a rule would name it.
    family = errors()
    found = []
    if type(e) is family.EvalSyntaxRejected:
        found = [v.what.split()[:2] for v in e.violations]
    elif type(e) is family.RuleEvalPermissionError:
        found = [[e.key, e.target]]
    at, func, lib = spot(f)
    for words in found:
        if len(words) == 2 and words[0] in ("syntax", "call", "attribute", "import", "magic") and words[1]:
            emit("denied", ["eval", words[0] + ":" + words[1]], at, func, lib)


def bind(kind: str, args: tuple, named: dict) -> tuple:
    # What the built-in takes its arguments for; it says itself what it cannot take.
    try:
        if "closure" not in named or (kind == "exec" and version >= (3, 11)):
            return BINDS[kind](*args, **named)
    except TypeError:
        pass
    TEXTS[kind](*["0" if kind == "compile" else nothing, *args[1:]] if args else (), **named)
    raise TypeError(kind + "() does not take these arguments")


def bind_text(source: object, globals: object = None, locals: object = None, /, *, closure: object = None) -> tuple:
    return source, globals, locals, closure


def bind_named(source: object, /, globals: object = None, locals: object = None, *, closure: object = None) -> tuple:
    return source, globals, locals, closure


def bind_compile(source: object, filename: object, mode: object, flags: int = 0, dont_inherit: bool = False, optimize: int = -1, *, _feature_version: int = -1) -> tuple:
    return source, filename, mode, flags, dont_inherit, optimize, _feature_version


BINDS = {"eval": bind_text if version < (3, 13) else bind_named, "exec": bind_text if version < (3, 13) else bind_named, "compile": bind_compile}


def text_eval(*args: object, **named: object) -> object:
    f = getframe(0).f_back
    source, globals, locals, _ = bind("eval", args, named)
    globals, locals = scope(f, globals, locals)
    eval(nothing, globals, None if locals is globals else locals)  # says what is no namespace, and puts the built-ins in, as ever
    readable("eval", source, {})
    return bounded("eval", source, globals, locals, f, {})


def text_exec(*args: object, **named: object) -> None:
    f = getframe(0).f_back
    source, globals, locals, closure = bind("exec", args, named)
    globals, locals = scope(f, globals, locals)
    exec(nothing, globals, None if locals is globals else locals)
    readable("exec", source, {})
    bounded("exec", source, globals, locals, f, {} if closure is None else {"closure": closure})


def text_compile(*args: object, **named: object) -> object:
    f = getframe(0).f_back
    source, filename, mode, flags, dont_inherit, optimize, _ = bind("compile", args, named)
    readable("compile", source, "", "exec")
    return bounded("compile", source, None, None, f, {"filename": filename, "mode": mode, "flags": flags, "dont_inherit": dont_inherit, "optimize": optimize})


GUARDED = {"eval": text_eval, "exec": text_exec, "compile": text_compile}


def recorded(kind: str, source: object, globals: object, locals: object, f: object) -> None:
    # Learning: what the text would need of [python.eval], with the names that it would see.
    if type(source) is type(body.__code__) or (type(source) is str and once(("text", source), f)):
        return
    try:
        names = {}
        for space in (globals, locals):
            if type(space) is dict:
                names.update(space)
        found = engine().constructs(source, kind, names)
        for key, name in found or [("syntax", "Constant")]:
            noted("eval", [key, name], f)
    except BaseException as e:
        if theirs(e):
            raise


def inherit(source: object, kind: str, f: object) -> object:
    # Text takes the caller's flags; the caller is not the one that the interpreter sees.
    flags = 0 if f is None else f.f_code.co_flags & FUTURE
    if flags and issubclass(type(source), (str, bytes)):
        return compile(source.lstrip(" \t" if issubclass(type(source), str) else b" \t") if kind == "eval" else source, "<string>", kind, flags, True)
    return source


def record_eval(*args: object, **named: object) -> object:
    f = getframe(0).f_back
    source, globals, locals, _ = bind("eval", args, named)
    globals, locals = scope(f, globals, locals)
    recorded("eval", source, globals, locals, f)
    return eval(inherit(source, "eval", f), globals, None if locals is globals else locals)


def record_exec(*args: object, **named: object) -> None:
    f = getframe(0).f_back
    source, globals, locals, closure = bind("exec", args, named)
    globals, locals = scope(f, globals, locals)
    recorded("exec", source, globals, locals, f)
    source = inherit(source, "exec", f)
    return exec(source, globals, locals) if closure is None else exec(source, globals, locals, closure=closure)


def record_compile(*args: object, **named: object) -> object:
    f = getframe(0).f_back
    source, filename, mode, flags, dont_inherit, optimize, feature = bind("compile", args, named)
    recorded(mode if mode in ("eval", "exec", "single") else "exec", source, None if f is None else f.f_globals, None, f)
    if not dont_inherit and f is not None:
        flags |= f.f_code.co_flags & FUTURE
    return compile(source, filename, mode, flags, True, optimize, _feature_version=feature)


RECORDED = {"eval": record_eval, "exec": record_exec, "compile": record_compile}
FUTURE = 0x1FE0000  # flags that code hands on to what it compiles


def text_doors(m: object) -> None:
    for name, raw in TEXTS.items():
        whole = "builtins." + name
        v = verdict([whole], "dynamic-code")
        if v is not True and type(dict.get(m.__dict__, name)) is builtin:
            m.__dict__[name] = shut(raw, pick_text, whole, "dynamic-code")


def texts() -> None:
    for by in (GUARDED, RECORDED):
        for name, do in by.items():
            do.__name__ = do.__qualname__ = name
            do.__module__ = "builtins"
    whenever("builtins", text_doors)
    after("psb.evals", armed)
