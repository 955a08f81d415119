# Runs code in a box, as a notebook runs its cells, and writes down what each piece left: one piece, or one after the other in a session. See doc.go.
# Everything here may be changed by the code it runs: nothing outside rests on it.


def main():
    # An interpreter has these from its start or in itself. Everything else comes by library(), when it is needed: `re` alone costs as much as an
    # interpreter without site-packages, and most calls need none of it.
    import _signal
    import atexit
    import builtins
    import gc
    import io
    import os
    import sys

    here = "/run/call"

    def of_json():
        """loads and dumps of strict JSON in ASCII, as json has them, which imports re."""
        try:
            import _json

            class Reader:
                strict = True
                object_hook = object_pairs_hook = None
                parse_float, parse_int, parse_constant = float, int, float
                memo = {}

            scan, quoted, make = _json.make_scanner(Reader), _json.encode_basestring_ascii, _json.make_encoder

            def refuse(value):
                raise TypeError(value)

            def dump(value):
                return "".join(make({}, refuse, quoted, None, ": ", ", ", False, False, False)(value, 0))

            if scan(dump({"a": [1, True]}), 0)[0] == {"a": [1, True]}:
                return lambda text: scan(text, 0)[0], dump
        except (ImportError, AttributeError, TypeError):
            pass  # an interpreter that has it otherwise
        import json

        return json.loads, lambda value: json.dumps(value, allow_nan=False)

    loads, dumps = of_json()
    with open(here + "/setup.json", encoding="utf-8") as f:
        setup = loads(f.read())

    def preload(names):
        """Imports them and says what could not be. What they print is nobody's."""
        if not names:
            return []
        failed = []
        kept = [os.dup(1), os.dup(2)]
        null = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(null, 1)
            os.dup2(null, 2)
            for wanted in names:
                try:
                    __import__(wanted)
                except BaseException as e:
                    failed.append(("%s: %s: %s" % (wanted, type(e).__name__, e))[:200])
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            for to, fd in enumerate(kept, 1):
                os.dup2(fd, to)
                os.close(fd)
            os.close(null)
        return failed

    keep = setup["keep"]
    subprocess = None
    taken = {}  # what library() has given
    ways = {name: getattr(sys, name)[:] for name in ("path", "meta_path", "path_hooks")}
    limit_ = sys.setrecursionlimit

    def library(name):
        """A module of the standard library, whatever the code has put in its place or in the way of it."""
        if name in taken:
            return taken[name]
        own = {k: m for k, m in list(sys.modules.items()) if k not in early and str(getattr(m, "__file__", "")).startswith(ours)}
        kept, deep = {way: getattr(sys, way) for way in ways}, sys.getrecursionlimit()
        for k in own:
            del sys.modules[k]
        for way, clear in ways.items():
            setattr(sys, way, clear[:])
        limit_(max(deep, 1000))
        try:
            __import__(name)
            taken[name] = sys.modules[name]
        finally:
            for way, theirs_ in kept.items():
                setattr(sys, way, theirs_)
            sys.modules.update(own)
            limit_(deep)
        return taken[name]

    early = ()
    ours = (setup["workspace"] + "/", "/tmp/", "/dev/shm/")
    if keep:
        for name in ("ast", "binascii", "datetime", "linecache", "re", "threading", "traceback"):
            library(name)  # now: a session is not as short, and one piece of code may leave the next one no way to them
        try:
            import subprocess  # now: a file of that name in the workspace is not meant
        except BaseException:
            pass  # the profile's rules refuse it
    # A pipe is opened for each use: code that closes all descriptors does no harm to its session. The half outside holds both ends of both.
    open_, read_, write_, close_, stat_ = os.open, os.read, os.write, os.close, os.fstat
    flags_in, flags_out = os.O_RDONLY | os.O_CLOEXEC, os.O_WRONLY | os.O_CLOEXEC

    def say(line):
        fd = open_(here + "/words", flags_out)
        try:
            write_(fd, (line + "\n").encode("ascii"))
        finally:
            close_(fd)

    def read(name):
        fd = open_(name, flags_in)
        try:
            parts = []
            while True:
                parts.append(read_(fd, 1 << 20))
                if not parts[-1]:
                    return b"".join(parts)
        finally:
            close_(fd)

    def next_order():
        """The task that the next line of orders names."""
        line = b""
        fd = open_(here + "/orders", flags_in)
        try:
            while line[-1:] != b"\n":
                line += read_(fd, 1)
        finally:
            close_(fd)
        return loads(read(here + "/" + line.decode("ascii").strip()).decode("utf-8"))

    streams = []
    if keep:
        # Both outputs once more, out of the way of code that closes all descriptors it can think of.
        for n in (1, 2):
            try:
                spare = os.dup2(n, 500 + n, False)
            except OSError:  # the limit on open files is lower
                spare = os.dup(n)
            streams.append((n, spare, stat_(spare)[1:3]))

    def put(fd, n):
        """Makes a descriptor the one of that number, for children, too."""
        if fd == n:
            os.set_inheritable(n, True)
        else:
            os.dup2(fd, n)
            close_(fd)

    def mend_streams():
        """Opens again what the code before closed: to where it led, or to nowhere."""
        for n, spare, same in streams:
            try:
                stat_(n)
                continue
            except OSError:
                pass
            try:
                alike = stat_(spare)[1:3] == same
            except OSError:
                alike = False
            put(os.dup(spare) if alike else open_(os.devnull, flags_out), n)

    own = os.getpid()
    most = 1 << 20  # characters of one text; the task says how many
    whole = dict(builtins.__dict__)
    hook = sys.excepthook  # the rules inside Python have put theirs there, where there are any
    name_of = ["<code>"]
    sources = {}  # linecache's entries of the code
    count = 0
    busy = [False]

    def on_interrupt(number, frame):
        """The half outside asks the code to stop. Between two pieces of code it means nothing."""
        if busy[0]:
            raise KeyboardInterrupt

    # Taken now: the code may put others in their place.
    repr_, str_, len_, type_, isinstance_, getattr_, sorted_, eval_ = repr, str, len, type, isinstance, getattr, sorted, eval
    list_, exit_, base_, bytes_ = list, os._exit, io.IOBase.__mro__[1], bytes

    def type_name(value):
        kind = type_(value)
        try:
            name, module = type_.__dict__["__qualname__"].__get__(kind), kind.__module__
        except BaseException:  # of its metaclass
            name = module = None
        if type_(name) is not str_:
            return "?"
        return name if type_(module) is not str_ or module in ("builtins", "__main__") else module + "." + name

    def text_of(value):
        """repr, cut, and whether it was."""
        try:
            text = str_(repr_(value))
        except BaseException as e:
            text = "<repr of %s failed: %s>" % (type_name(value), type_name(e))
        if len_(text) > most:
            return text[:most], True
        return text, False

    class TooMuch(Exception):
        pass

    def plain(value):
        """The value as something that strict JSON can hold; what it cannot is told by its repr."""
        left = [20000]

        def walk(v, path, deep):
            left[0] -= 1
            if left[0] < 0 or deep > 40:
                raise TooMuch
            kind = type_(v)
            if v is None or kind is bool:
                return v
            if kind is int:
                if v.bit_length() > 4000:
                    raise TooMuch
                return v
            if kind is str:
                left[0] -= len_(v) // 64
                return v
            if kind is float:
                return v if v - v == 0 else repr_(v)
            if id(v) in path:
                return "<cycle>"
            inner = path | {id(v)}
            if kind is dict:
                out = {k if type_(k) is str else str_(k): walk(x, inner, deep + 1) for k, x in v.items()}
                if len_(out) != len_(v):
                    raise TooMuch  # 1 and "1" would be one
                return out
            if kind in (list, tuple):
                return [walk(x, inner, deep + 1) for x in v]
            if kind in (set, frozenset):
                try:
                    items = sorted_(v)
                except TypeError:
                    items = sorted_(v, key=repr_)
                return [walk(x, inner, deep + 1) for x in items]
            if "datetime" in sys.modules:
                datetime = library("datetime")
                if isinstance_(v, (datetime.datetime, datetime.date, datetime.time)):
                    return v.isoformat()
            if kind.__module__ == "numpy":
                size = getattr_(v, "size", None)
                if type_(size) is int and size > 20000:
                    raise TooMuch
                got = v.tolist()
                if type_(got) is not kind:
                    return walk(got, inner, deep + 1)
            text, cut = text_of(v)
            if deep == 0:
                raise TooMuch  # an object by itself is told by type and repr alone
            return text

        return walk(value, frozenset(), 0)

    def said_of(e):
        """An exception in one line."""
        try:
            return type_name(e) + ": " + str_(e)
        except BaseException:
            return type_name(e)

    def json_of(value):
        try:
            text = dumps(plain(value))
        except BaseException:
            return None
        return text if len_(text) <= most else None

    figures = []

    def mime_of(value):
        """What a notebook would show."""
        out = {}
        if type_ in type_.__dict__["__mro__"].__get__(type_(value)):
            return out  # a class has these for what is made of it

        def shown(method):
            try:
                return getattr_(value, method)() if getattr_(type_(value), method, None) is not None else None
            except BaseException:
                return None

        for method, kind in (("_repr_html_", "text/html"), ("_repr_markdown_", "text/markdown"), ("_repr_latex_", "text/latex"), ("_repr_svg_", "image/svg+xml")):
            text = shown(method)
            if type_(text) is str_ and len_(text) <= most:
                out[kind] = text
        data = shown("_repr_png_")
        if type_(data) is bytes_:
            add_figure("image/png", data)
        return out

    def add_figure(kind, data):
        if len_(figures) < 16 and len_(data) <= 4 << 20:
            figures.append({"mime": kind, "data": library("binascii").b2a_base64(data, newline=False).decode("ascii")})

    def kind_of(x):
        """The exception's type, under its name of before 3.13 and since; the older one's warns there."""
        return x.__dict__.get("_exc_type") or x.__dict__.get("exc_type")

    def error_of(e, tb, seen=8):
        traceback = library("traceback")
        library("ast")  # with which it marks places in a line
        library("linecache").cache.update(sources)
        te = traceback.TracebackException(type_(e), e, tb)

        def own(x, depth=0):
            x.stack = traceback.StackSummary.from_list([f for f in x.stack if f.filename != mark])
            for y in (x.__cause__, x.__context__):
                if y is not None and depth < 32:
                    own(y, depth + 1)

        mark = own.__code__.co_filename
        own(te)

        def said(x, depth):
            try:
                message = "".join(x.format_exception_only()).strip()
            except BaseException:
                message = ""
            kind = kind_of(x).__qualname__ if kind_of(x) is not None else ""
            if kind_of(x) is not None and issubclass(kind_of(x), SyntaxError):
                message = str_(x.msg)  # where it is stands in the frames
            elif message.startswith(kind + ": "):
                message = message[len_(kind) + 2:]
            elif message == kind:
                message = ""
            frames = [{"file": f.filename, "line": f.lineno or 0, "function": f.name, "source": f.line or ""} for f in x.stack[-32:]]
            if kind_of(x) is not None and issubclass(kind_of(x), SyntaxError) and x.filename == name_of[0]:
                frames.append({"file": name_of[0], "line": int(x.lineno or 0), "function": "", "source": (x.text or "").rstrip("\n")})
            nxt = x.__cause__ or (None if x.__suppress_context__ else x.__context__)
            return {"type": kind, "message": message[:most], "frames": frames, "chained": said(nxt, depth - 1) if nxt is not None and depth > 0 else None, "traceback": ""}

        out = said(te, seen)
        try:
            out["traceback"] = "".join(te.format())[-most:]
        except BaseException:
            out["traceback"] = out["type"] + ": " + out["message"]
        return out

    theirs = []

    def telling():
        """Puts the builtins back that libraries stand on: the code may have others in their place."""
        if not theirs:
            theirs.append(dict(builtins.__dict__))
        builtins.__dict__.update(whole)

    def told_all():
        if theirs:
            builtins.__dict__.update(theirs.pop())

    def told(e):
        """The rules inside Python say which refusals of files are behind an error that nobody caught, and take their frames out of it. It is not printed
        here: what shows it comes later."""
        shown, sys.stderr = sys.stderr, None
        try:
            hook(type_(e), e, e.__traceback__)
        except BaseException:
            pass
        finally:
            sys.stderr = shown

    loop = []

    def evaluate(compiled):
        if compiled.co_flags & 0x80:  # CO_COROUTINE: there is an await at the top
            import asyncio

            if not loop:
                loop.append(asyncio.new_event_loop())
                asyncio.set_event_loop(loop[0])
            return loop[0].run_until_complete(eval_(compiled, space))
        return eval_(compiled, space)

    def end_loop():
        if not loop:
            return
        import asyncio

        pending = [t for t in asyncio.all_tasks(loop[0]) if not t.done()]
        for t in pending:
            t.cancel()
        if pending:
            loop[0].run_until_complete(asyncio.gather(*pending, return_exceptions=True))
        loop[0].run_until_complete(loop[0].shutdown_asyncgens())
        loop[0].close()

    def end(status):
        """What the interpreter does at its end, as far as the code can tell, without taking apart what is only memory. It returns where the interpreter
        has to do it all: where the code left modules of its own."""
        nonlocal module, space
        native = False
        for key, loaded in list_(sys.modules.items()):
            file = getattr_(loaded, "__file__", None)
            if key not in early and (type_(file) is not str_ or file.startswith(ours)) and key not in sys.builtin_module_names:
                return
            native = native or key == "_ctypes" or type_(file) is str_ and file.endswith(".so") and not file.startswith(dynload)
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
        atexit._run_exitfuncs()
        flush_files()  # while those that they write through are open: what is thrown away together goes in no order
        sys.modules.pop("__main__", None)
        module = space = None
        gc.collect()
        flush_files()
        if native:  # it may have printed with C's own buffers
            import ctypes

            ctypes.CDLL(None).fflush(None)
        exit_(status)

    def flush_files():
        files = {}
        for o in gc.get_objects():
            kind = type_(o)
            if kind not in files:
                files[kind] = base_ in kind.__mro__
            if files[kind]:
                try:
                    if not o.closed:
                        o.flush()
                except Exception:
                    pass  # it may be half taken apart
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not getattr_(stream, "closed", False):
                stream.flush()

    def begin(task):
        """What each piece of a session gets anew: an interrupt that works, standard input, streams that can be written to."""
        _signal.signal(_signal.SIGINT, on_interrupt)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, {_signal.SIGINT})
        put(open_(here + "/" + task["input"] if task["input"] else os.devnull, flags_in), 0)
        mend_streams()
        sys.stdin = io.open(0, encoding="utf-8", errors="surrogateescape", closefd=False)
        for n, stream in ((1, "stdout"), (2, "stderr")):
            if getattr_(getattr_(sys, stream, None), "closed", True):
                setattr(sys, stream, io.open(n, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False))
        say("\nopen " + task["id"])  # whatever the code wrote there before ends with its own line

    left = {"dir": setup["workspace"], "env": {}}  # by shells: where the last one ended; what they exported, and what os.environ had then
    of_shell = ("PWD", "OLDPWD", "SHLVL", "_")

    def exported(text, given):
        """The variables that a shell's export -p tells; those it writes in a way of its own stay as they were given."""
        re, found, now, whole = library("re"), {}, "", True
        for m in re.finditer(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)|\s+|$""", text, re.S):
            if m.lastindex is not None:
                part = m.group(m.lastindex)
                if m.lastindex == 2:
                    part = re.sub(r"\\([$`\"\\])", r"\1", part)
                whole = whole and not (m.lastindex == 4 and part.endswith("$"))  # $'...'
                now += part
                continue
            name, there, value = now.partition("=")
            if there and name.isidentifier():
                found[name] = value if whole else given.get(name, "")
            now, whole = "", True
        return found

    def remember(task, note, given):
        """Keeps what a shell left to the next one, where it came to its end."""
        try:
            where, _, names = read(note).partition(b"\0")
            os.unlink(note)
        except OSError:
            return  # exec, a signal, a trap of its own
        if not task["dir"]:
            left["dir"] = os.fsdecode(where[:-1])
        now = exported(os.fsdecode(names), given)
        for name in set(now) | {n for n in given if n.isidentifier()}:
            left["env"].pop(name, None)
            if now.get(name) != os.environ.get(name) and name not in of_shell:
                left["env"][name] = (now.get(name), os.environ.get(name))

    def variables_of_shell():
        env = dict(os.environ)
        for name, (value, before) in list_(left["env"].items()):
            if env.get(name) != before:
                del left["env"][name]  # Python has changed it since
            elif value is None:
                env.pop(name, None)
            else:
                env[name] = value
        return env

    def shell(task):
        """The status of a shell command, whose processes are ended by an interrupt."""
        if subprocess is None:
            print("run_shell: this profile lets no session start programs (import subprocess); without session a shell has a box of its own", file=sys.stderr)
            return 126
        env = variables_of_shell()
        note = here + "/" + task["id"] + ".left"
        code = "trap '{ set +x; pwd; printf \"\\0\"; export -p; } >" + note + " 2>/dev/null' EXIT; " + task["code"]
        place = task["dir"] or (left["dir"] if os.path.isdir(left["dir"]) else setup["workspace"])
        try:
            p = subprocess.Popen(["/bin/sh", "-c", code, "sh"] + task["args"], cwd=place, env=env, start_new_session=True)
        except Exception as e:  # the profile's rules, no such folder, or no process is left
            print("run_shell: the shell cannot be started: " + said_of(e), file=sys.stderr)
            return 126
        try:
            status = p.wait()
            remember(task, note, env)
        except KeyboardInterrupt:
            for number in (_signal.SIGTERM, _signal.SIGKILL):
                try:
                    os.killpg(p.pid, number)
                    p.wait(0.5)
                except (OSError, subprocess.TimeoutExpired):
                    continue
                break
            p.wait()
            status = -_signal.SIGINT
        return status if status >= 0 else 128 - status

    await_, only_tree = 0x2000, 0x400  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT and PyCF_ONLY_AST

    def compiled_tree(code, name):
        """The code, and the expression it ends in, if it does. The first tree makes the hundred types of the tree's nodes: most of what `1+1` costs."""
        ast = library("_ast")
        tree = compile(code, name, "exec", only_tree | await_, dont_inherit=True)
        last = None
        if tree.body and isinstance_(tree.body[-1], ast.Expr) and not code.rstrip().endswith(";"):
            last = compile(ast.Expression(tree.body.pop().value), name, "eval", await_, dont_inherit=True)
        return compile(tree, name, "exec", await_, dont_inherit=True), last

    def compiled_lines(code, name):
        """The same without a tree, where it is plain by the lines: the last one that begins at the margin begins an expression that goes to the end, and
        what stands before it is whole by itself. None where it is not plain; what is wrong with the code is then said by the tree's parser alone."""
        lines = code.split("\n")
        at = len_(lines) - 1
        while at >= 0 and (not lines[at] or lines[at][0] in " \t\f#)]}"):
            at -= 1
        tail = "\n".join(lines[at:])
        if at < 0 or "\r" in code or ";" in tail or at and lines[at - 1].endswith("\\"):
            return None
        for part in tail.split("\\")[1:]:
            if part[:1] not in tuple("nrt'\"0x"):
                return None  # it may be warned of, and only once
        try:
            last = compile("\n" * at + tail, name, "eval", await_, dont_inherit=True)
            return compile("\n".join(lines[:at]), name, "exec", await_, dont_inherit=True), last
        except Exception:
            return None

    def python(task, report):
        """Runs the code; its status, and its last expression's value."""
        code = task["code"]
        name = name_of[0]
        sources[name] = (len(code), None, code.splitlines(True), name)
        if "linecache" in sys.modules:
            library("linecache").cache.update(sources)
        sys.argv = [name] + task["args"]
        value = None
        try:
            try:
                body, last = compiled_lines(code, name) or compiled_tree(code, name)
                evaluate(body)
                if last is not None:
                    value = evaluate(last)
            finally:
                if not keep:
                    end_loop()
        except SystemExit as e:
            if e.code is None:
                return 0, None
            if isinstance_(e.code, int):
                return e.code & 0xFF, None
            print(e.code, file=sys.stderr)
            return 1, None
        except BaseException as e:
            telling()
            told(e)
            try:
                report["error"] = error_of(e, e.__traceback__)
            except BaseException as again:
                report["error"] = {"type": type_(e).__name__, "message": "", "frames": [], "chained": None, "traceback": type_(e).__name__ + " (" + type_(again).__name__ + " while it was told)"}
            return 1, None
        return 0, value

    def describe(task, report, value):
        """Everything about the state that the code left which was asked for."""
        if value is not None:
            space["_"] = value
            text, cut = text_of(value)
            report["value"] = {"type": type_name(value), "repr": text, "json": json_of(value), "mime": mime_of(value), "cut": cut}
        for wanted in task["variables"]:
            entry = {"name": wanted, "type": "", "repr": "", "json": None, "size": 0, "error": "", "cut": False}
            try:
                got = space[wanted] if wanted in space else eval_(compile(wanted, "<variable>", "eval"), space)
                entry["type"] = type_name(got)
                entry["repr"], entry["cut"] = text_of(got)
                entry["json"] = json_of(got)
                entry["size"] = sys.getsizeof(got, 0)
            except BaseException as e:
                entry["error"] = said_of(e)[:200]
            report["variables"].append(entry)
        if task["figures"] and "matplotlib.pyplot" in sys.modules:
            try:
                plt = sys.modules["matplotlib.pyplot"]
                for n in plt.get_fignums()[:16]:
                    out = io.BytesIO()
                    plt.figure(n).savefig(out, format="png", bbox_inches="tight")
                    add_figure("image/png", out.getvalue())
                plt.close("all")
            except BaseException as e:
                print("figures: " + said_of(e), file=sys.stderr)

    def write_down(task, report):
        try:
            text = dumps(report)
            while len_(text) > task["most_report"] and figures:
                figures.pop()
                text = dumps(report)
            if len_(text) <= task["most_report"]:
                fd = open_(here + "/" + task["report"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
                data = text.encode()
                while data:
                    data = data[write_(fd, data):]
                close_(fd)
        except BaseException:
            pass  # no report: the half outside says so

    def perform(task):
        """One piece of code, from its order to its report; the status is what it would have ended its own interpreter with."""
        nonlocal most, count
        count += 1
        most = task["most_text"]
        if keep:
            name_of[0] = "<code %d>" % count
            begin(task)
        del figures[:]
        report = {"value": None, "error": None, "variables": [], "figures": figures}
        if task["shell"]:
            status = shell(task)
        else:
            status, value = python(task, report)
            telling()
            describe(task, report, value)
        write_down(task, report)
        told_all()
        return status

    class Watcher:
        """The code may print tracebacks of its own, which find its lines in linecache."""

        def find_spec(self, name, path=None, target=None):
            if name != "linecache":
                return None
            sys.meta_path.remove(self)
            for finder in sys.meta_path:
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    break
            else:
                return None
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                module.cache.update(sources)

            spec.loader.exec_module = exec_module
            return spec

    failed = preload(setup["preload"])
    if "linecache" not in sys.modules:
        sys.meta_path.insert(0, Watcher())
    if failed or setup["preload"] or keep:
        gc.collect()
    gc.freeze()  # what is there before the order is never looked at again for what could be thrown away
    early = set(sys.modules)
    dynload = tuple(p for p in sys.path if p.endswith("lib-dynload"))
    say(dumps({"ready": True, "failed": failed}))
    task = next_order()
    if not keep:
        say(dumps({"taken": True}))
    # Whatever was drawn before the order is known to nobody but this process; the code gets numbers of its own all the same.
    if "random" in sys.modules:
        sys.modules["random"].seed()
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    module = type_(sys)("__main__")
    space = module.__dict__
    space.update(setup["values"])
    space["__builtins__"] = builtins  # made after the freeze: at the end it is thrown away
    sys.modules["__main__"] = module
    sys.path.insert(0, setup["workspace"])
    if not keep:
        status = perform(task)
        try:
            end(status)
        except BaseException:
            pass  # the code has changed what this stands on
        sys.exit(status)
    while True:
        status = 1
        try:
            try:
                busy[0] = True
                status = perform(task)
            finally:
                busy[0] = False
        except BaseException:  # an interrupt that came late, or a report that broke
            busy[0] = False
        if os.getpid() != own:
            os._exit(status)  # a child of the code's that came back to here
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass
        say("\nover %s %d" % (task["id"], status & 0xFF))
        task = next_order()


main()
