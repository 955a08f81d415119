# Objects of the library that are trusted to act for whoever made them are made by hand.
#| [python.import]
#| "subprocess" = true
#| "pickle" = true
#: foreign-child -
#: base-class -
#: bomb-of-base RuleApiPermissionError call os.system
import io
import pickle
import subprocess
import threading
from tries import attempt, cat, victim


def foreign():
    p = subprocess.Popen.__new__(subprocess.Popen)
    p.pid, p.returncode, p._child_created, p._waitpid_lock = victim, None, False, threading.Lock()
    p.send_signal(0)


attempt("foreign-child", foreign)
attempt("base-class", lambda: pickle.Unpickler.__mro__[-2](io.BytesIO(b"I1\n.")).load())
attempt("bomb-of-base", lambda: pickle.Unpickler.__mro__[-2](io.BytesIO(b"cposix\nsystem\n(V" + cat.encode() + b"\ntR.")).load())
