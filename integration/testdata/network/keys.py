"""Speaks to a redis server. argv: host and port, or the path of its socket."""
import socket
import sys

if len(sys.argv) == 2:
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
else:
    s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 20)
f = s.makefile("rw", newline="")
for words in ("SET", "key", "value"), ("APPEND", "key", "s"), ("GET", "key"), ("DEL", "key"):
    f.write("*%d\r\n" % len(words) + "".join("$%d\r\n%s\r\n" % (len(w), w) for w in words))
    f.flush()
    line = f.readline()
    print(words[0], line.strip(), f.readline().strip() if line.startswith("$") else "")
