# Work that goes on after the last line: a thread, an exit handler, a finaliser, a handler of the signal that should end it.
import atexit
import signal
import threading
import time
import weakref


def beat(tag):
    while True:
        with open("beat", "a") as f:
            f.write(tag)
        time.sleep(0.05)


class W:
    pass


threading.Thread(target=beat, args=("t",)).start()
atexit.register(beat, "a")
w = W()
weakref.finalize(w, beat, "f")
signal.signal(signal.SIGTERM, lambda *a: beat("s"))
signal.signal(signal.SIGINT, lambda *a: beat("i"))
print("started\nready", flush=True)
