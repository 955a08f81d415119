# status: 1
import builtins
import marshal
import os
import pickle
import signal
import subprocess
import sys
import threading
import traceback

for what in (lambda: os.kill("a", 1), lambda: os.system(), lambda: os.execv("/nothing", ["x"]), lambda: subprocess.run(["/there/is/none"]), lambda: subprocess.run([]),
             lambda: pickle.loads(b"nothing"), lambda: pickle.loads(), lambda: marshal.loads(b""), lambda: marshal.loads(1),
             lambda: builtins.__import__(3), lambda: threading.Thread().start(1), lambda: sys._getframe(99), lambda: sys.settrace(),
             lambda: signal.setitimer(9, 1), lambda: signal.alarm("x"), lambda: os.umask("x"), lambda: os.setpgid(1), lambda: pickle.Unpickler(3), lambda: os.nice()):
    try:
        what()
    except BaseException:
        traceback.print_exc()


def die():
    raise RuntimeError("thread")


t = threading.Thread(target=die, name="T")
t.start()
t.join()
os.kill(os.getpid(), "x")
