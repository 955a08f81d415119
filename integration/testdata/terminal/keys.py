# Tells what reaches it: each KeyboardInterrupt once, each line, the size of the terminal when it changes.
# Handlers write by themselves: print does not bear an interruption of another print.
import os
import signal
import sys

if "ignore" in sys.argv:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
if "size" in sys.argv:
    signal.signal(signal.SIGWINCH, lambda *_: os.write(1, b"size now %dx%d\n" % os.get_terminal_size()))
if "term" in sys.argv:
    signal.signal(signal.SIGTERM, lambda *_: os.write(1, b"got SIGTERM\n"))
if "cont" in sys.argv:
    signal.signal(signal.SIGCONT, lambda *_: os.write(1, b"got SIGCONT\n"))
interrupts = 0
greeting = "ready"
text = None
while True:
    # All of a round stands in the try: an interrupt may come while the last line is still being printed.
    try:
        if greeting:
            print(greeting, flush=True)
            greeting = ""
        text = sys.stdin.readline()
        if text in ("", "end\n"):
            break
        print("line %r after %d" % (text, interrupts), flush=True)
    except KeyboardInterrupt:
        interrupts += 1
        print("interrupt %d" % interrupts, flush=True)
        if "guard" not in sys.argv:
            raise
print("done %d" % interrupts)
sys.exit(7)
