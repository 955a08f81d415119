# A guarded function found by the ancestors of a literal is the guarded one.
#: hierarchy RuleApiPermissionError call os.system
#: spelled RuleApiPermissionError call os.system
import os
from tries import attempt, cat

attempt("hierarchy", lambda: [k for k in ().__class__.__mro__[-1].__subclasses__() if k.__name__ == "_wrap_close"][0].__init__.__globals__["system"](cat))
attempt("spelled", lambda: getattr([k for k in getattr((), "_" * 2 + "class" + "_" * 2).mro()[-1].__subclasses__() if k.__name__ == "_wrap_" + "close"][0].__init__, "__glo" + "bals__")["sys" + "tem"](cat))
