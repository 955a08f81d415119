# Text becomes code by the loaders of the import system: by hand it is the program's text. In a file it is a module: what it calls is judged, what it
# opens too.
#: source RuleApiPermissionError call builtins.compile
#: module -
#: guarded-source RuleApiPermissionError call builtins.compile
#: guarded-module RuleApiPermissionError call os.system
#: open *
import importlib.machinery
import os
import sys
import types
from tries import attempt, canary, cat


def code(text):
    return importlib.machinery.SourceFileLoader("made", "made.py").source_to_code(text, "made.py")


def loaded(text):
    with open("/tmp/psb_made_%d.py" % os.getpid(), "w") as f:
        f.write(text)
    try:
        return importlib.machinery.SourceFileLoader("made", f.name).load_module()
    finally:
        os.remove(f.name)
        sys.modules.pop("made", None)


system = "import os\nos.system(%r)" % cat
attempt("source", lambda: types.FunctionType(code("print(1 + 1)"), {"__builtins__": __builtins__})())
attempt("module", lambda: loaded("print(1 + 1)"))
attempt("guarded-source", lambda: types.FunctionType(code(system), {"__builtins__": __builtins__})())
attempt("guarded-module", lambda: loaded(system))
attempt("open", lambda: loaded("print(open(%r).read())" % canary))
