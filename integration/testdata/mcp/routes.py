"""Ways to the real os module that filters of Python text do not close, and what each of them gains: a file, a process and the network of the host.

    routes.py FILE PROCESS PORT SOCKET

Prints a line for each way that leads there, with all it gained.
"""

import sys

path, process, port, door = sys.argv[1:5]


def from_sys(sys):
    return sys.modules["os"]


def subclasses(base):
    for cls in base.__subclasses__():
        found = getattr(getattr(cls, "__init__", None), "__globals__", {})
        if "sys" in found:
            return from_sys(found["sys"])


def attrgetter():
    import operator

    return subclasses(operator.attrgetter("_" + "_class_" + "_._" + "_base_" + "_")(()))


def methodcaller():
    import operator

    for cls in operator.methodcaller("_" + "_subclasses_" + "_")(object):
        if cls.__name__ == "_wrap_close":
            return from_sys(operator.attrgetter("_" + "_init_" + "_._" + "_globals_" + "_")(cls)["sys"])


def formatter():
    import string

    return subclasses(string.Formatter().get_field("0._" + "_class_" + "_._" + "_base_" + "_", ((),), {})[0])


def attribute(module, name):
    return lambda: getattr(__import__(module), name)


def public_sys(module):
    return lambda: from_sys(getattr(__import__(module), "sys"))


def private_sys(module):
    return lambda: from_sys(getattr(__import__(module), "_sys"))


def from_import():
    from uuid import os

    return os


def private_import():
    from random import _os

    return _os


def codecs_builtins():
    from json import codecs

    return codecs.builtins.__import__("os")


def codecs_open():
    import json

    return from_sys(json.codecs.open.__globals__["sys"])


def helper_of_uuid():
    import uuid

    return uuid._get_command_stdout.__globals__["os"]


def type_hints():
    import typing

    def f():
        pass

    f.__annotations__ = {"x": "[__import__('os')][0] and found.append(__import__('os')) or int"}
    found = []
    typing.get_type_hints(f, {"found": found})
    return found[0]


def forward_reference():
    import typing

    class C:
        pass

    found = []
    C.__annotations__ = {"x": typing.ForwardRef("found.append(__import__('os')) or int")}
    typing.get_type_hints(C, {"found": found}, {"found": found})
    return found[0]


def generator_frame():
    g = (g.gi_frame.f_back.f_builtins for _ in (1,))
    return next(g)["__import__"]("os")


def traceback_frame():
    try:
        1 / 0
    except ZeroDivisionError as e:
        return e.__traceback__.tb_frame.f_builtins["__import__"]("os")


def match_pattern():
    # written as text, for interpreters that know it: an attribute is read without an attribute's syntax
    space = {"mod": __import__("uuid"), "object": object}
    exec("match mod:\n  case object(os=found): pass", space)
    return space["found"]


def literal():
    return subclasses(().__class__.__mro__[1])


def error_object():
    try:
        __import__("uuid").no_such_name
    except AttributeError as e:
        return e.obj.os


def audit_free_import():
    import importlib.machinery

    return importlib.machinery.BuiltinImporter.load_module("posix") and sys.modules["os"]


ways = {
    "attrgetter": attrgetter, "methodcaller": methodcaller, "formatter": formatter, "uuid.os": attribute("uuid", "os"), "enum.sys": public_sys("enum"),
    "dataclasses.sys": public_sys("dataclasses"), "typing.sys": public_sys("typing"), "calendar.sys": public_sys("calendar"), "statistics.sys": public_sys("statistics"),
    "from uuid": from_import, "json codecs": codecs_builtins, "random._os": attribute("random", "_os"), "collections._sys": private_sys("collections"),
    "pprint._sys": private_sys("pprint"), "from random": private_import, "json.codecs.open": codecs_open, "uuid helper": helper_of_uuid, "type hints": type_hints,
    "forward reference": forward_reference, "generator frame": generator_frame, "traceback frame": traceback_frame, "match": match_pattern, "literal": literal,
    "error object": error_object, "built-in importer": audit_free_import,
}


def read_file(os):
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.read(fd, 100)
    finally:
        os.close(fd)


def see_process(os):
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open("/proc/" + name + "/cmdline", "rb") as f:
                    if process.encode() in f.read():
                        os.kill(int(name), 0)
                        return True
            except OSError:
                pass


def connect(os):
    import socket

    with socket.create_connection(("127.0.0.1", int(port)), 5):
        return True


def enter(os):
    import socket

    with socket.socket(socket.AF_UNIX) as s:
        s.connect(door)
        return True


def enter_natively(os):
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.socket(1, 1, 0)
    address = (1).to_bytes(2, sys.byteorder) + door.encode() + b"\0"
    try:
        return fd >= 0 and libc.connect(fd, address, len(address)) == 0
    finally:
        libc.close(fd)


gains = {"file": read_file, "process": see_process, "network": connect, "socket": enter, "native": enter_natively}
for name, way in ways.items():
    try:
        os = way()
    except BaseException as e:
        print("no way:", name, type(e).__name__, file=sys.stderr)
        continue
    if os is None:
        continue
    gained = []
    for gain, do in gains.items():
        try:
            if do(os):
                gained.append(gain)
        except Exception:
            pass
    print(name + ":", *gained)
