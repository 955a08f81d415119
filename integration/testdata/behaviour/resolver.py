# Reads a resolver's file by every way it may stand there, and the host's own, which may be absent but never stops a start.
import sys

for name in ("plain", "relative", "absolute", "hops"):
    with open(sys.argv[1] + name) as f:
        print(f.read().count("nameserver"))
try:
    with open("/etc/resolv.conf") as f:
        print(isinstance(f.read(), str))
except FileNotFoundError:
    print(True)
