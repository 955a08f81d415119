# Tells what reaches it: each KeyboardInterrupt once, each line, the size of the terminal when it changes.
import os
import signal
import sys

if "ignore" in sys.argv:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
if "size" in sys.argv:
    signal.signal(signal.SIGWINCH, lambda *_: print("size now %dx%d" % os.get_terminal_size(), flush=True))
if "term" in sys.argv:
    signal.signal(signal.SIGTERM, lambda *_: print("got SIGTERM", flush=True))
if "cont" in sys.argv:
    signal.signal(signal.SIGCONT, lambda *_: print("got SIGCONT", flush=True))
interrupts = 0
print("ready", flush=True)
while True:
    try:
        text = sys.stdin.readline()
    except KeyboardInterrupt:
        interrupts += 1
        print("interrupt %d" % interrupts, flush=True)
        if "guard" not in sys.argv:
            raise
        continue
    if text in ("", "end\n"):
        break
    print("line %r after %d" % (text, interrupts), flush=True)
print("done %d" % interrupts)
sys.exit(7)
