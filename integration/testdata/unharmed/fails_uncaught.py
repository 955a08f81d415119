# status: 1
import functools
import importlib
import json


class Refused(Exception):
    pass


def parse(text):
    try:
        return json.loads(text)
    except ValueError as e:
        raise Refused(f"cannot read {text!r}") from e


def again(f):
    @functools.wraps(f)
    def wrapped(*args):
        return f(*args)

    return wrapped


@again
def load(name):
    try:
        importlib.import_module(name)
    except ImportError as e:
        e.name = None
        parse("{")


load("there_is_no_such.module")
