# Where unpickling is granted, what the bytes call is judged as the program's own call.
#| [python.import]
#| "pickle" = true
#| "shelve" = true
#| "multiprocessing" = true
#| [python.call]
#| "deserialization" = true
#: loads RuleApiPermissionError call os.system
#: python RuleApiPermissionError call os.system
#: registered RuleApiPermissionError call os.system
#: received RuleApiPermissionError call os.system
#: evaluated RuleApiPermissionError call builtins.eval
import copyreg
import io
import multiprocessing.connection
import os
import pickle
import posix
from tries import attempt, cat

bomb = b"cposix\nsystem\n(V" + cat.encode() + b"\ntR."
attempt("loads", lambda: pickle.loads(bomb))
attempt("python", lambda: pickle._Unpickler(io.BytesIO(bomb)).load())
copyreg.add_extension("posix", "system", 240)
attempt("registered", lambda: pickle.loads(b"\x82\xf0(V" + cat.encode() + b"\ntR."))


def received():
    a, b = multiprocessing.connection.Pipe()
    a.send_bytes(bomb)
    return b.recv()


attempt("received", received)
attempt("evaluated", lambda: pickle.loads(b"c__builtin__\neval\n(Vprint(open(" + repr(cat.split("'")[1]).encode() + b").read())\ntR."))
