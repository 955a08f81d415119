# A function of the standard library is replaced, so that a module of it calls a guarded one while it is imported.
#: import -
import functools
import os
import re
import sys
from tries import attempt, cat


def patched():
    for name in ("tokenize", "string"):
        sys.modules.pop(name, None)
    kept = re.compile
    re.compile = functools.partial(max, cat, key=os.system)
    try:
        import tokenize
    except Exception:
        pass
    finally:
        re.compile = kept


attempt("import", patched)
