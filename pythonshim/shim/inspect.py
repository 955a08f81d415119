# psb --inspect: what the program's variables hold when it ends. repr() is the program's own code and may do anything that the program may;
# what it says is noted, bounded, and believed by nobody.
from texts import *  # psb: cut

repr = builtins.repr
MOST = 1000  # characters of one value


def visible(s: str) -> str:
    out = []
    room = 3000  # of the note, where a character may take up to twelve bytes
    for c in s[: MOST + 1]:
        if not c.isprintable():
            n = ord(c)
            c = "\\x%02x" % n if n < 0x100 else "\\u%04x" % n if n < 0x10000 else "\\U%08x" % n
        room -= len(quote(c)) - 2
        if room < 0 or len(out) == MOST:
            out.append("\u2026")
            break
        out.append(c)
    return "".join(out)


def value(x: object) -> str:
    # A long text or list is cut before it is worded: its repr might not fit into memory.
    c = type(x)
    if c in (str, bytes, bytearray, list, tuple) and len(x) > MOST:
        return visible(repr(x[:MOST])).rstrip("\u2026")[: MOST - 1] + "\u2026"
    s = repr(x)
    return visible(str.__str__(s) if issubclass(type(s), str) else "")


def inspected() -> None:
    # No other thread of psb's code is disturbed: this runs once, when the interpreter ends.
    main = modules.get("__main__")
    names = getattr(main, "__dict__", {})
    for name in RULES["inspect"]:
        if name not in names:
            emit("inspect", [name, "missing", ""], "", "", "")
            continue
        try:
            emit("inspect", [name, "value", value(names[name])], "", "", "")
        except BaseException as e:
            emit("inspect", [name, "failed", visible(type(e).__name__)], "", "", "")


def inspect_at_end() -> None:
    if RULES.get("inspect"):
        # The first that is registered is the last to run: what the program's own handlers change is seen.
        load("atexit").register(inspected)
