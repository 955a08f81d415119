# Starts a program under debugpy and is its client: a break, a look at a variable, and on. Both ends are in here, over the loopback.
import json
import os
import socket
import subprocess
import sys
import tempfile

with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as f:
    f.write("x = 41\nx += 1\nprint('END', x)\n")
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
listener.settimeout(50)
p = subprocess.Popen([sys.executable, "-Xfrozen_modules=off", "-m", "debugpy", "--connect", "127.0.0.1:%d" % listener.getsockname()[1], "--wait-for-client", f.name],
                     stdout=subprocess.PIPE, env=dict(os.environ, PYDEVD_DISABLE_FILE_VALIDATION="1"))
conn, _ = listener.accept()
conn.settimeout(50)
stream, n = conn.makefile("rb"), 0


def ask(command, **arguments):
    global n
    n += 1
    body = json.dumps({"seq": n, "type": "request", "command": command, "arguments": arguments}).encode()
    conn.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    return n


def wait(yes):
    while True:
        length = 0
        for line in iter(stream.readline, b"\r\n"):
            if line == b"":
                raise SystemExit("the debugger hung up")
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        m = json.loads(stream.read(length))
        if yes(m):
            return m


def answer(command, **arguments):
    asked = ask(command, **arguments)
    return wait(lambda m: m.get("request_seq") == asked and m["type"] == "response")


answer("initialize", adapterID="x", pathFormat="path", linesStartAt1=True)
attach = ask("attach", justMyCode=False)
wait(lambda m: m.get("event") == "initialized")
answer("setBreakpoints", source={"path": f.name}, breakpoints=[{"line": 3}])
answer("configurationDone")
stopped = wait(lambda m: m.get("event") == "stopped")["body"]
frame = answer("stackTrace", threadId=stopped["threadId"])["body"]["stackFrames"][0]
print("STOPPED", stopped["reason"], frame["line"], answer("evaluate", expression="x + 1", frameId=frame["id"], context="repl")["body"]["result"])
answer("continue", threadId=stopped["threadId"])
print(p.communicate()[0])
