# A guarded function as a thread, at the end, in a signal handler, in a finaliser: nobody's frame is the program's.
#| [python.call]
#| "threads" = true
#| "signal.raise_signal" = true
#: - - call os.system
import atexit
import gc
import os
import signal
import sys
import threading
import weakref
from tries import attempt, cat


class Thing:
    pass


threading.excepthook = lambda a: print("refused thread", a.exc_type.__name__, flush=True)
sys.unraisablehook = lambda a: print("refused finaliser", a.exc_type.__name__, flush=True)
t = threading.Thread(target=os.system, args=(cat,))
t.start()
t.join()
signal.signal(signal.SIGUSR1, lambda *a: os.system(cat))
attempt("handler", lambda: os.kill(os.getpid(), signal.SIGUSR1) if not hasattr(signal, "raise_signal") else signal.raise_signal(signal.SIGUSR1))
thing = Thing()
weakref.finalize(thing, os.system, cat)
ref = weakref.ref(thing, lambda r: os.system(cat))
del thing
gc.collect()
atexit.register(os.system, cat)
