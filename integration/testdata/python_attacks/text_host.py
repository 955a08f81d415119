# The trusted program that evaluates texts: text_host.py WAY PATH [MODE:PROFILE:NAME[:FIRST]]...
#
# WAY: plain (no guard, the control), bounded (no guard, each text in a child that a quarter of a second of computing or memory ends), own (the
# program's eval and exec), child and process (psb.guarded_eval). A NAME is a file of texts below text/, or of texts too deep to write down.
# Each text is told by a line "\x1e" + JSON before and after; what stands between is the text's own output.
import importlib
import json
import os
import sys

way, path = sys.argv[1:3]
if way in ("child", "process"):
    from psb import guarded_eval

DEEP = {
    "deep_brackets": ["(" * 5000 + ")" * 5000, "[" * 5000 + "]" * 5000, "f(" * 3000 + ")" * 3000, "{" * 3000 + "}" * 3000, "x[" * 3000 + "]" * 3000],
    "long_chains": ["1-" * 250000 + "1", "x" + ".a" * 200000, "a" + " if a else a" * 50000, "1<" * 100000 + "1", "x" + "[0]" * 50000, "f" + "()" * 50000,
                    "not " * 100000 + "1", "1 and 2 or " * 50000 + "1", "2**" * 50000 + "2"],
    "unary_towers": ["-" * 1000000 + "1", "-" * 3000 + "1", "~" * 100000 + "1", "+-~" * 10000 + "1"],
    "nested_lambdas": ["lambda: " * 3000 + "0", "lambda x=" * 2000 + "0" + ": 0" * 2000, "[0 for x in " * 500 + "[]" + "]" * 500],
    "many_nodes": ["[" + "1," * 10000 + "]", "+".join(["1"] * 10000), "f(" + ",".join(["1"] * 10000) + ")"],
    "long_texts": ["1" + " " * 100000000, "#" * 100000000 + "\n1"],
    "deep_statements": ["".join(" " * i + "if 1:\n" for i in range(90)) + " " * 90 + "pass\n", "if 1: pass\n" + "elif 1: pass\n" * 20000,
                        "".join(" " * i + "def f():\n" for i in range(60)) + " " * 60 + "pass\n", "x=" * 100000 + "1\n"],
}


def tool(*args):
    return args


def names():
    tool.__dict__.clear()
    tool.kept = 1
    return {"data": [3, 1, 2], "path": path, "tool": tool, "lib": importlib}


def texts(name):
    if name in DEEP:
        return DEEP[name]
    with open("text/" + name + ".py", encoding="utf-8") as f:
        head, _, body = f.read().partition("\n#:")
    return body.split("\n", 1)[1].split("\n#--\n")


def evaluate(text, mode, profile, given):
    if way == "child" or way == "process":
        return guarded_eval(text, profile, given, mode, in_process=way == "process")
    if way == "own" and profile:
        raise ValueError("a program's own eval knows no profile's name")
    return eval(text.strip("\n"), given) if mode == "eval" else exec(text, given)


def tell(**what):
    print("\x1e" + json.dumps(what), flush=True)


def plain(e):
    # A refusal as plain data.
    c = type(e)
    return {"class": c.__name__, "family": [b.__name__ for b in c.__mro__], "text": str(e)[:2000], "hint": str(getattr(e, "hint", ""))[:2000],
            "key": str(getattr(e, "key", "")), "target": str(getattr(e, "target", "")), "reason": str(getattr(e, "reason", "")),
            "violations": [[v.line, v.column, v.what, v.text[:200], v.fix] for v in list(getattr(e, "violations", ()))[:50]]}


def left():
    # What an evaluation leaves of the machine's: descriptors, children, threads.
    with open("/proc/self/status") as f:
        threads = [line.split()[1] for line in f if line.startswith("Threads:")][0]
    kids = set()
    running = 0
    for task in os.listdir("/proc/self/task"):
        try:
            with open("/proc/self/task/%s/children" % task) as f:
                kids.update(f.read().split())
        except OSError:
            pass
    for kid in kids:
        try:
            with open("/proc/%s/stat" % kid) as f:
                running += f.read().rpartition(")")[2].split()[0] in "RZ"
        except OSError:
            pass
    return {"files": len(os.listdir("/proc/self/fd")), "children": len(kids), "running": running, "threads": int(threads)}


def bounded(text, mode, profile):
    # The control of what has no end: a child that the kernel ends.
    pid = os.fork()
    if pid:
        status = os.waitpid(pid, 0)[1]
        return tell(end="signal" if os.WIFSIGNALED(status) else ["value", "raised"][os.WEXITSTATUS(status)], number=status & 127)
    import resource
    import signal
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    resource.setrlimit(resource.RLIMIT_AS, (400 << 20,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.25)
    try:
        evaluate(text, mode, profile, names())
        sys.stdout.flush()
    except BaseException:
        os._exit(1)
    os._exit(0)


print("started", flush=True)
for row in sys.argv[3:]:
    mode, profile, name, first = (row + ":0").split(":")[:4]
    for i, text in enumerate(texts(name)):
        if i < int(first):
            continue
        tell(name=name, text=text[:300], number=i)
        if way == "bounded":
            bounded(text, mode, profile)
            continue
        given = names()
        try:
            value = evaluate(text, mode, profile, given)
        except BaseException as e:
            end = {"end": "raised", **plain(e)}
        else:
            end = {"end": "value", "true": bool(value), "value": repr(value)[:300] if type(value) in (int, str, list, dict, tuple, type(None)) else type(value).__name__}
        end["names"] = sorted(map(str, given))
        if way != "plain":
            end.update(left())
            try:
                end["next"] = evaluate("1+1", "eval", profile, {})
            except BaseException as e:
                end["next"] = repr(e)
        tell(**end)
print("done", flush=True)
