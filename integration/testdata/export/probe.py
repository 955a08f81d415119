# Tries everything in a list and says of each "NAME yes" or "NAME no WHY". What each try may do is the test's to know.
import ctypes, os, signal, socket, subprocess, sys, threading

word, port, outside = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)


def text(name):
    with open(name) as f:
        return f.read()


def holds(name, part):
    return part in text(name)


def change(name):
    with open(name, "r+") as f:
        f.write("#")
    return True


def make(name):
    with open(name, "x") as f:
        f.write("made")
    return True


def connect(family, address):
    s = socket.socket(family)
    s.settimeout(5)
    s.connect(address)
    return True


def call(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return True


def thread():
    seen = []
    t = threading.Thread(target=lambda: seen.append(1))
    t.start()
    t.join()
    return seen == [1]


def pair():
    a, b = socket.socketpair()
    a.send(b"x")
    return b.recv(1) == b"x"


def namespace():
    child = os.fork()  # not of several threads
    if child == 0:
        os._exit(0 if libc.unshare(0x10000000) == 0 else ctypes.get_errno())
    errno = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if errno:
        raise OSError(errno, os.strerror(errno))
    return True


def raises_id():
    os.chmod("out/o.csv", 0o4755)
    return bool(os.stat("out/o.csv").st_mode & 0o4000)


def parent_environment():
    return any(holds("/proc/%s/environ" % p, "caller-" + word) for p in os.listdir("/proc") if p.isdigit() and readable(p))


def readable(pid):
    try:
        text("/proc/%s/environ" % pid)
    except OSError:
        return False
    return True


tries = {
    # what the policy allows
    "reads": lambda: text("data/d.csv") == "1\n",
    "reads odd name": lambda: text("data/odd ' \"$x%n:\\.csv") == "odd\n",
    "makes": lambda: make("out/new"),
    "writes": lambda: open("out/o.csv", "w").write("x") == 1,
    "scratch": lambda: make("/tmp/psb-export-" + word),
    "runs": lambda: subprocess.run(["/usr/bin/uname"], capture_output=True).stdout == b"Linux\n",
    "text": lambda: os.environ["MODE"] == "it's \"a\" $text %n",
    "stdin": lambda: sys.stdin.read() == "given\n",
    "thread": thread,
    "pair": pair,
    "own name": lambda: os.getpid() > 0 and text("/proc/self/stat") != "",
    # what it passes on, where the tool can
    "passed": lambda: os.environ["PASSED"] == "passed-" + word,
    "pattern": lambda: os.environ["SET_ONE"] == "one-" + word,
    "default": lambda: os.environ["CACHE"] == "/tmp/c d",
    "lists": lambda: "other.py" in os.listdir("."),
    # what it does not allow
    "variable": lambda: "caller-" + word in os.environ.get("OTHER", ""),
    "refused variable": lambda: "SET_NEVER" in os.environ,
    "variable of a process": parent_environment,
    "hidden": lambda: holds(".env", word),
    "hidden below": lambda: holds("data/.env", word),
    "hidden change": lambda: change("data/.env"),
    "bait": lambda: holds("notes/private.txt", word),
    "bait beside": lambda: holds("other.py", word),
    "sibling": lambda: holds("../sibling/decoy.txt", word),
    "home": lambda: holds(os.environ["BAIT_HOME"] if "BAIT_HOME" in os.environ else "../../decoy.txt", word),
    "present": lambda: change("out/present"),
    "present removed": lambda: os.unlink("out/old") is None,
    "own script": lambda: change("probe.py"),
    "policy": lambda: change(".py-sandboxes"),
    "new beside": lambda: make("new.py"),
    "read only": lambda: make("data/new"),
    "listener": lambda: connect(socket.AF_INET, ("127.0.0.1", port)),
    "unix socket": lambda: connect(socket.AF_UNIX, "data/door"),
    "set id": raises_id,
    "descriptor": lambda: os.read(9, 100) != b"",
    "signal": lambda: os.kill(outside, 0) is None,
    "namespace": namespace,
    "trace": lambda: call(libc.ptrace(0, 0, 0, 0)),
    "personality": lambda: call(libc.personality(0x0400000)),
}
for name, do in tries.items():
    try:
        print(name, "=", "yes" if do() else "no wrong")
    except Exception as e:
        print(name, "= no", type(e).__name__, e)
