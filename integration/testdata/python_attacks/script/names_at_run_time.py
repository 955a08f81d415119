# A guarded function by a name that no reader of the source can see.
#: attribute RuleApiPermissionError call os.system
#: dictionary RuleApiPermissionError call os.system
#: attrgetter RuleApiPermissionError call os.system
#: methodcaller RuleApiPermissionError call os.system
#: partial RuleApiPermissionError call os.system
#: map RuleApiPermissionError call os.system
#: key RuleApiPermissionError call os.system
#: default RuleApiPermissionError call os.system
#: decorator RuleApiPermissionError call os.system
#: operator RuleApiPermissionError call os.system
#: formatted RuleApiPermissionError call os.system
#: finder RuleApiPermissionError call os.system
import functools
import operator
import os
import string
from tries import attempt, cat

attempt("attribute", lambda: getattr(os, "sys" + "tem")(cat))
attempt("dictionary", lambda: os.__dict__["metsys"[::-1]](cat))
attempt("attrgetter", lambda: operator.attrgetter("sys" + "tem")(os)(cat))
attempt("methodcaller", lambda: operator.methodcaller("sys" + "tem", cat)(os))
attempt("partial", lambda: functools.partial(os.system, cat)())
attempt("map", lambda: list(map(os.system, [cat])))
attempt("key", lambda: sorted([cat], key=os.system))
attempt("default", lambda: (lambda f=os.system: f(cat))())


def decorator():
    def text(f):
        return cat

    @os.system
    @text
    def nothing():
        pass


attempt("decorator", decorator)


class Index:
    __class_getitem__ = staticmethod(os.system)


attempt("operator", lambda: Index[cat])
attempt("formatted", lambda: string.Formatter().get_field("0.system", (os,), {})[0](cat))
attempt("finder", lambda: next(v for k, v in vars(os).items() if k.startswith("syst"))(cat))
