# Bytes that call a function when they become an object.
#| [python.import]
#| "pickle" = true
#| "_pickle" = true
#| "marshal" = true
#| "shelve" = true
#: loads RuleApiPermissionError call pickle.loads
#: twin RuleApiPermissionError call pickle.loads
#: load RuleApiPermissionError call pickle.load
#: unpickler RuleApiPermissionError call pickle.Unpickler
#: python RuleApiPermissionError call pickle.Unpickler
#: marshal RuleApiPermissionError call marshal.loads
import io
import marshal
import os
import pickle
import _pickle
from tries import attempt, cat

bomb = b"cposix\nsystem\n(V" + cat.encode() + b"\ntR."
attempt("loads", lambda: pickle.loads(bomb))
attempt("twin", lambda: _pickle.loads(bomb))
attempt("load", lambda: pickle.load(io.BytesIO(bomb)))
attempt("unpickler", lambda: pickle.Unpickler(io.BytesIO(bomb)).load())
attempt("python", lambda: pickle._Unpickler(io.BytesIO(bomb)).load())
attempt("marshal", lambda: marshal.loads(marshal.dumps(compile("1", "x", "eval"))) if 0 else marshal.loads(b"i\x01\x00\x00\x00"))
