# Texts in annotations are run by the standard library for whoever asks: one that calls something is text of the program's.
#: hints RuleApiPermissionError call builtins.compile
#: reference RuleApiPermissionError call builtins.compile
import os
import typing
from tries import attempt, cat


def f(a: "os.system(cat) or int"):
    pass


class C:
    a: "os.system(cat) or int" = 1


attempt("hints", lambda: typing.get_type_hints(f))
attempt("reference", lambda: typing.get_type_hints(C))
