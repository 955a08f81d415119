"""Looks names up in all ways, and says what each gave. argv: names."""
import re
import socket
import subprocess
import sys

for name in sys.argv[1:]:
    for option in "+notcp", "+tcp":
        for kind in "A", "AAAA", "TXT":
            out = subprocess.run(["dig", option, "+time=5", "+tries=2", name, kind], capture_output=True, text=True).stdout
            status = re.search(r"status: (\w+)", out)
            print(name, option, kind, status[1] if status else out, out.count("\t" + kind + "\t"))
    try:
        print(name, "found" if socket.getaddrinfo(name, 80) else "nothing")
    except socket.gaierror as e:
        print(name, e.args[0] == socket.EAI_NONAME and "no such name" or e.strerror)
