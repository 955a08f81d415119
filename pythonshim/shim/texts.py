# Evaluated text: what the program gives to eval, exec and compile runs under the rules of [python.eval], or not at all. What the standard
# library and the libraries evaluate is their own. Raw where [python.call] grants it: then there is no door.
from calls import *  # psb: cut

TEXTS = {"eval": eval, "exec": exec, "compile": compile}
nothing = compile("None", "<psb>", "eval", 0, True)


def wants(short: object, f: object) -> bool:
    # Is the text the program's own? Its frame, or the library's that names the function, comes first; what only calls what it was given is
    # looked through (threading's run, and the import system for everybody but itself).
    while f is not None:
        k = origin(f)
        if k == LIBRARY:
            return False
        if k != STDLIB:
            return True
        names = f.f_code.co_names
        if short in names if short else "exec" in names or "eval" in names or "compile" in names:
            return False
        f = f.f_back
    return True


def pick_text(entry: tuple, f: object) -> object:
    if not wants(entry[4], f):
        return entry[0]
    if verdict([entry[2]], entry[3]) is not False and "" in RULES["eval"]:
        return GUARDED[entry[4]]
    return refuser(entry[2], entry[3], ". Text under rules needs no such line: give it a table [python.eval] (psb policy help)")


def scope(f: object, globals: object, locals: object) -> tuple:
    # What the built-in takes where it is given nothing: the caller's names. From 3.13 those of a function are a copy each time.
    if globals is None:
        globals = f.f_globals
        if locals is None:
            locals = f.f_locals
            if version >= (3, 13) and f.f_code.co_flags & 1:
                locals = dict(locals)
    elif locals is None:
        locals = globals
    return globals, locals


def bounded(kind: str, source: object, globals: object, locals: object, f: object, options: dict) -> object:
    engine = own("psb.evals")
    if not engines:
        engines.append(own("psb.evals.rules").Rules(RULES["eval"][""], ""))
    site = f.f_code.co_filename + ":" + text(f.f_lineno or 0)
    return engine.evaluate(kind, source, globals, locals, engines[0], site, inherited=f.f_code.co_flags, **options)


engines = []


def text_eval(source: object, globals: object = None, locals: object = None) -> object:
    f = getframe(0).f_back
    globals, locals = scope(f, globals, locals)
    TEXTS["eval"](nothing, globals, locals)  # says what is no namespace, and puts the built-ins in, as ever
    return bounded("eval", source, globals, locals, f, {})


def text_exec(source: object, globals: object = None, locals: object = None, *, closure: object = None) -> None:
    f = getframe(0).f_back
    globals, locals = scope(f, globals, locals)
    TEXTS["exec"](nothing, globals, locals)
    bounded("exec", source, globals, locals, f, {} if closure is None else {"closure": closure})


def text_compile(source: object, filename: object, mode: object, flags: int = 0, dont_inherit: bool = False, optimize: int = -1, *, _feature_version: int = -1) -> object:
    f = getframe(0).f_back
    options = {"filename": filename, "mode": mode, "flags": flags, "dont_inherit": dont_inherit, "optimize": optimize}
    if _feature_version != -1:
        options["_feature_version"] = _feature_version
    return bounded("compile", source, None, None, f, options)


GUARDED = {"eval": text_eval, "exec": text_exec, "compile": text_compile}


def heard(source: object, f: object) -> None:
    # Learning, from the audit hook: some text is about to be compiled for f. No frame: the program's own file.
    if f is None or not wants(None, f) or verdict(["builtins.compile"], "dynamic-code") is True:
        return
    text_of = source
    if isinstance(source, bytes):
        text_of = bytes.decode(source, "utf-8", "replace")
    if once(("text", text_of if type(text_of) is str else id(source)), f):
        return
    for key, name in own("psb.evals").constructs(text_of, "exec"):
        noted("eval", [key, name], f)


def text_doors(m: object) -> None:
    for name, raw in TEXTS.items():
        whole = "builtins." + name
        v = verdict([whole], "dynamic-code")
        if (v is False or (v is None and ENFORCE)) and type(dict.get(m.__dict__, name)) is builtin:
            m.__dict__[name] = shut(raw, pick_text, whole, "dynamic-code")


def texts() -> None:
    for name, do in GUARDED.items():
        do.__name__ = do.__qualname__ = name
        do.__module__ = "builtins"
    after("builtins", text_doors)
