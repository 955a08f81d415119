"""What the tests of evaluated text share: a profile with everything but Python's own names, and ways to run."""

import builtins
import sys

from psb.evals.rules import Rules
from psb.evals.run import here
from psb.evals.sites import evaluate
from psb.evals.words import ALONE, SYNTAX
from psb.guarded import guarded_eval

ALONE_HERE = [n for n in ALONE]
EVERYTHING = {
    "syntax": [*SYNTAX, *ALONE_HERE],
    "call": [
        *[
            "*",
            "eval",
            "exec",
            "vars",
            "dir",
            "getattr",
            "hasattr",
            "type",
            "id",
            "object",
            "super",
            "print",
            "property",
            "classmethod",
            "staticmethod",
        ],
        *["memoryview"],
    ],
    "attribute": ["*", "format", "format_map", "mro", "obj", "name", "path", "value", "args"],
    "import": ["*", "typing", "types", "inspect", "sys", "ast", "abc", "contextlib"],
    "max_depth": 100,
    "timeout": "20s",
}


def rules(**change):
    """Everything but what change says."""
    return Rules({**EVERYTHING, **change})


ALL = rules()


def plain(text, mode="eval", names=None):
    """The same with the built-ins: the control."""
    space = {"__name__": "evaluated", "__builtins__": builtins, **(names or {})}
    if mode == "eval":
        return eval(text, space)
    exec(text, space)
    return space


def inside(text, mode="eval", names=None, judged=ALL):
    """Under the profile, in this process."""
    return here(text, mode, judged, names)


def at_site(text, mode="eval", names=None, judged=ALL):
    """At a call site of the program, in its namespace."""
    space = {"__name__": "evaluated", **(names or {})}
    value = evaluate(mode, text, space, None, judged, "app.py:1")
    return value if mode == "eval" else space


HAS = sys.version_info
__all__ = ["ALL", "EVERYTHING", "HAS", "at_site", "guarded_eval", "inside", "plain", "rules"]
