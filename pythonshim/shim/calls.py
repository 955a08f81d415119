# Calls: who calls a function of the registry needs a rule for it. Judged by who asks, so that the same function is open to the standard
# library's own work and closed to the program, under whatever name and through whatever module it was reached.
from imports import *  # psb: cut
from doors import *  # psb: cut

# policy/registry.txt, name for name; a test compares.
REGISTRY = {
    "process-exec": "os.system os.popen os.execl os.execle os.execlp os.execlpe os.execv os.execve os.execvp os.execvpe os.spawnl os.spawnle "
    "os.spawnlp os.spawnlpe os.spawnv os.spawnve os.spawnvp os.spawnvpe os.posix_spawn os.posix_spawnp os.fork os.forkpty subprocess.Popen "
    "_posixsubprocess.fork_exec pty.spawn pty.fork multiprocessing.Process.start _interpreters.create",
    "process-control": "os.kill os.killpg os.nice os.setpriority os.abort os.setsid os.setpgid os.setpgrp os.pidfd_open signal.alarm "
    "signal.setitimer signal.raise_signal signal.pthread_kill signal.pidfd_send_signal resource.setrlimit resource.prlimit sys.remote_exec",
    "privileges": "os.setuid os.setgid os.seteuid os.setegid os.setreuid os.setregid os.setresuid os.setresgid os.setgroups os.initgroups "
    "os.umask os.unshare os.setns os.chroot",
    "threads": "threading.Thread.start _thread.start_new_thread _thread.start_joinable_thread _thread.interrupt_main",
    "native": "ctypes.CDLL ctypes.cast ctypes.string_at ctypes.wstring_at ctypes.memoryview_at ctypes.memmove ctypes.memset "
    "sqlite3.Connection.enable_load_extension sqlite3.Connection.load_extension",
    "introspection": "importlib.reload sys._getframe sys._getframemodulename sys._current_frames sys._current_exceptions sys.settrace "
    "sys.setprofile sys.addaudithook threading.settrace threading.setprofile threading.settrace_all_threads threading.setprofile_all_threads "
    "sys.monitoring.register_callback gc.get_objects gc.get_referrers gc.get_referents inspect.currentframe inspect.stack inspect.trace "
    "faulthandler.enable code.interact code.InteractiveInterpreter.runsource",
    "dynamic-code": "builtins.eval builtins.exec builtins.compile bdb.Bdb.run bdb.Bdb.runeval cProfile.Profile.runctx doctest.DocTestRunner.run "
    "profile.Profile.runctx timeit.Timer trace.Trace.runctx",
    "deserialization": "pickle.load pickle.loads pickle.Unpickler marshal.load marshal.loads shelve.open",
}
CATEGORY = {name: category for category, names in REGISTRY.items() for name in names.split()}

# Doors are hung where a function in C is defined. Functions in Python need none when they come down to one of these: their frame, between
# the door and who asks, says which was called. Here the C module of a name in the registry, and other names of the same.
HOMES = {"os": "posix", "signal": "_signal", "pickle": "_pickle"}
HUNG = ("posix", "_signal", "_thread", "sys", "marshal", "_posixsubprocess", "_interpreters", "gc", "resource", "faulthandler", "_pickle", "sys.monitoring")
TWINS = {
    "_thread": {"start_new": "_thread.start_new_thread"},
    "sys": {"_settraceallthreads": "threading.settrace_all_threads", "_setprofileallthreads": "threading.setprofile_all_threads"},
    "_xxsubinterpreters": {"create": "_interpreters.create"},
    "_ctypes": {"dlopen": "ctypes.CDLL", "call_function": "ctypes.CDLL", "call_cdeclfunction": "ctypes.CDLL", "PyObj_FromPtr": "ctypes.cast"},
    "ctypes": {
        "memmove": "ctypes.memmove", "memset": "ctypes.memset", "_cast": "ctypes.cast", "_string_at": "ctypes.string_at",
        "_wstring_at": "ctypes.wstring_at", "_memoryview_at": "ctypes.memoryview_at",
    },
}
# Frames of the standard library that are a door of the registry: (module, function).
OUTER = {("os", name[3:]): name for name in CATEGORY if name.startswith("os.")}
OUTER.update({
    ("subprocess", "__init__"): "subprocess.Popen",
    ("pty", "spawn"): "pty.spawn",
    ("pty", "fork"): "pty.fork",
    ("multiprocessing.process", "start"): "multiprocessing.Process.start",
    ("multiprocessing.util", "spawnv_passfds"): "multiprocessing.Process.start",  # its helpers: resource tracker, fork server
    ("multiprocessing.forkserver", "main"): "multiprocessing.Process.start",
    ("threading", "start"): "threading.Thread.start",
    ("threading", "settrace_all_threads"): "threading.settrace_all_threads",
    ("threading", "setprofile_all_threads"): "threading.setprofile_all_threads",
    ("ctypes", "__init__"): "ctypes.CDLL",
    ("ctypes", "cast"): "ctypes.cast",
    ("ctypes", "string_at"): "ctypes.string_at",
    ("ctypes", "wstring_at"): "ctypes.wstring_at",
    ("ctypes", "memoryview_at"): "ctypes.memoryview_at",
    ("inspect", "currentframe"): "inspect.currentframe",
    ("inspect", "stack"): "inspect.stack",
    ("importlib", "reload"): "importlib.reload",
    ("pickle", "_load"): "pickle.load",
    ("pickle", "_loads"): "pickle.loads",
    ("shelve", "open"): "shelve.open",
    ("shelve", "__getitem__"): "shelve.open",  # reading from a shelf unpickles
    ("shelve", "previous"): "shelve.open",
    ("shelve", "next"): "shelve.open",
    ("shelve", "first"): "shelve.open",
    ("shelve", "last"): "shelve.open",
    ("shelve", "set_location"): "shelve.open",
})
# By category, doors in Python: they can stand around another of their category. In os they are those that start programs.
AROUND = {c: {n for (m, _), n in OUTER.items() if CATEGORY[n] == c and (m != "os" or c == "process-exec")} for c in REGISTRY}
# Functions written in Python that come down to no door.
WRITTEN = {
    "threading": {"settrace": "threading.settrace", "setprofile": "threading.setprofile"},
    "inspect": {"trace": "inspect.trace"},
    "importlib": {"reload": "importlib.reload"},
    "code": {"interact": "code.interact", "InteractiveConsole.interact": "code.interact", "InteractiveInterpreter.runsource": "code.InteractiveInterpreter.runsource"},
    "pickle": {"_Unpickler.load": "pickle.Unpickler"},
    "shelve": {"open": "shelve.open"},
}
# Callers in the standard library that act on nobody's behalf, each for one category.
EXEMPT = {
    # An import statement reads its byte code.
    ("importlib._bootstrap_external", "_compile_bytecode"): "deserialization",
    ("zipimport", "_unmarshal_code"): "deserialization",
    ("pkgutil", "read_code"): "deserialization",
    # A child of multiprocessing reads from its parent's pipe what it is to do.
    ("multiprocessing.spawn", "_main"): "deserialization",
    # The processes of one program hand each other work and results through pipes of their own.
    ("multiprocessing.queues", "get"): "deserialization",
    ("multiprocessing.pool", "_handle_results"): "deserialization",
    ("concurrent.futures.process", "_process_worker"): "deserialization",
    ("concurrent.futures.process", "wait_result_broken_or_wakeup"): "deserialization",
    ("concurrent.futures.process", "_queue_management_worker"): "deserialization",
    # help() tries whether there is a pager: in a box without a rule for one the system says no, and the text is printed.
    ("pydoc", "getpager"): "process-exec",
    ("_pyrepl.pager", "get_pager"): "process-exec",
    # Who was allowed to start a child may end it.
    ("subprocess", "send_signal"): "process-control",
    ("multiprocessing.popen_fork", "_send_signal"): "process-control",
    # asyncio tries whether the system has process descriptors, and waits with one for the child that it started.
    ("asyncio.unix_events", "can_use_pidfd"): "process-control",
    ("asyncio.unix_events", "add_child_handler"): "process-control",
    ("asyncio.base_subprocess", "send_signal"): "process-control",
    # The child of a terminal becomes its session's leader.
    ("pty", "fork"): "process-control",
    # The console passes on what was typed: Ctrl-C and Ctrl-Z.
    ("_pyrepl.commands", "do"): "process-control",
    # What it profiles is asked of whoever hands it text; from 3.12 on it does so by callbacks.
    ("cProfile", "runctx"): "introspection",
    # Reads the mask, by setting it twice.
    ("dbm.dumb", "open"): "privileges",
}
# What is psb's and calls doors itself: the child of guarded_eval, and the program that runs the code of a call of psb mcp. What text or code
# calls there has frames of its own, or of the guard, in between.
PSBS = frozenset((PACKAGE + "/psb/evals/child.py", "/run/call/run.py"))
# What runs what it was given: behind it nobody has asked.
GIVEN = {("threading", "run"), ("multiprocessing.process", "run")}
READS = external._compile_bytecode.__code__
verdicts = {}
files = {}


def home(file: str) -> str:
    # The module of the standard library that a file is.
    m = files.get(file)
    if m is None:
        if file.startswith("<frozen "):
            m = file[8:-1]
        elif file == HERE or file.startswith(PACKAGE + "/"):
            m = "psb"
        else:
            m = file[len(stdlib) :].replace("/", ".")
            m = m[:-12] if m.endswith(".__init__.py") else m[:-3]
        if len(files) > 4096:
            files.clear()
        files[file] = m
    return m


def origin(f: object) -> int:
    # What the frame is of: also text counts as what it belongs to, and a program that is itself installed as the program.
    file = f.f_code.co_filename
    k = kinds.get(file)
    if k is None:
        k = kind(file)
    if k == TEXT:
        k = belongs(f)
    return PROGRAM if k == LIBRARY and installed(file) else k


def passed(entry: tuple, f: object) -> object:
    # The names of the doors between this one and who asks, the one that was called last; None where nobody needs a rule.
    name, category, short = entry[2], entry[3], entry[4]
    names = [name]
    watching = category == "introspection"
    inner = None
    while f is not None:
        code = f.f_code
        if kinds.get(code.co_filename) != STDLIB:
            k = origin(f)
            if k != STDLIB:
                return None if watching and k == LIBRARY else names
        where = (home(code.co_filename), code.co_name)
        outer = OUTER.get(where)
        if outer is not None and CATEGORY[outer] == category:
            if outer != names[-1]:
                names.append(outer)
                short = outer.rpartition(".")[2]
        elif EXEMPT.get(where) == category:
            return None
        elif where in GIVEN:
            return names
        elif short in code.co_names and (watching or where[0] == "psb"):
            # The library's own watching, whoever called it (namedtuple, logging, a debugger). What only calls what it was given, such as
            # threading's run, does not name it.
            return None
        elif inner is not None and inner.co_name == "<module>" and where[0].startswith("importlib._bootstrap"):
            return None  # a module of the standard library, while it is imported
        elif dict.get(f.f_globals, "__name__") == "__main__":
            return names
        inner = code
        f = f.f_back
    return names


def verdict(names: list, category: str) -> object:
    # One false among the doors that were passed refuses. True for the outermost, which is what was called, opens those within; one within opens
    # none around it: what a line says of a function holds for calls of that function, as everything outside that reads the policy has it.
    out = None
    refused = False
    for n in names:
        if n not in verdicts:
            verdicts[n] = judge("call", n, (category,))
        out = verdicts[n]
        refused = refused or out is False
    return False if refused else out


def pick_call(entry: tuple, f: object) -> object:
    if f is not None and f.f_code is READS and entry[3] == "deserialization":
        return entry[0]  # an import statement; passed() would say so, too
    if f is not None and ENFORCE:
        # What is allowed is most often called by who asks.
        k = origin(f)
        if k != STDLIB and (verdicts.get(entry[2]) is True or (k == LIBRARY and entry[3] == "introspection")):
            return entry[0]
    names = None if f is not None and text(f.f_code.co_filename) in PSBS else passed(entry, f)
    if names is None:
        return entry[0]
    v = verdict(names, entry[3])
    if v is False:
        return refuser([n for n in names if verdicts[n] is False][-1], entry[3])
    if v is None and ENFORCE:
        return refuser(names[-1], entry[3])
    if not ENFORCE and not once(("call", names[-1]), f):
        say("call", [entry[3], names[-1]], f)
    return entry[0]


lsprofs = []  # the module _lsprof, from before it has its names on


def pick_watch(entry: tuple, f: object) -> object:
    # From 3.12 on cProfile registers callbacks of its own, in C that looks at no refusal and goes on with the error set. Below it no door was
    # there either: who may load cProfile may profile. Taking a callback away watches nothing.
    def register_callback(*args: object, **kwargs: object) -> object:
        call = args[2] if len(args) == 3 else register_callback
        if call is None or (type(call) is builtin and any([issubclass(type(call.__self__), dict.get(m.__dict__, "Profiler", ())) for m in lsprofs])):
            return entry[0](*args, **kwargs)
        return pick_call(entry, f)(*args, **kwargs)

    return register_callback


def once(what: tuple, f: object) -> bool:
    # A loop of the program that asks for the same again.
    if f is None or not owns(f):
        return False
    line = (what, f.f_code.co_filename, f.f_lineno)
    if line in asked_once:
        return True
    if len(asked_once) > 4096:
        asked_once.clear()
    asked_once.add(line)
    return False


asked_once = set()


def say(op: str, args: list, f: object) -> None:
    try:
        noted(op, args, f)
    except BaseException as e:
        if theirs(e):
            raise


def refuser(name: str, category: str) -> object:
    def refused(*args: object, **kwargs: object) -> None:
        e = refusal("call", name, getframe(0).f_back)
        if verdict([name], category) is None:
            if name in ("builtins.eval", "builtins.exec", "builtins.compile"):
                e.args = ("evaluated text is not in the policy; psb --learn writes what it needs to [python.eval]; without any bounds: " + e.hint,)
            else:
                wider = "or all of " + category + ": psb policy add call " + category
                e.args = (e.args[0] + ", " + wider,)
                e.hint += "\n" + wider
        e.category = category
        raise e

    refused.__code__ = refused.__code__.replace(co_filename="<psb>", co_name=name.rpartition(".")[2])  # what a traceback shows
    return refused


def open_doors() -> frozenset:
    # For these no question is left: a rule lets everybody through, and so does one for each door around them, with no false in the way.
    names = set()
    for line in GRANTED["call"] if ENFORCE else ():
        names.update(CATEGORY if line == "*" else REGISTRY[line].split() if line in REGISTRY else [line])
    closed = {CATEGORY.get(n) for n in BANNED["call"]}
    names = [n for n in names if n in CATEGORY and CATEGORY[n] not in closed and verdict([n], CATEGORY[n]) is True]
    asking = {c for c in {CATEGORY[n] for n in names} if any([verdict([o], c) is not True for o in AROUND[c]])}
    return frozenset([n for n in names if CATEGORY[n] not in asking])


free = open_doors()


hangings = {}  # what to do with a module, however it came to be


def whenever(name: str, do: object) -> None:
    hangings.setdefault(name, []).append(do)
    after(name, do)


def hang(m: object, names: dict) -> None:
    # Doors in the place of a module's functions.
    d = m.__dict__
    for attr, name in names.items():
        raw = dict.get(d, attr)
        if raw is not None and type(raw) is not door and callable(raw) and type(raw) is not type and type(raw) is not function and name not in free:
            pick = pick_watch if name == "sys.monitoring.register_callback" else pick_call
            d[attr] = doors_of[id(raw)] = shut(raw, pick, name, CATEGORY[name])


def copies() -> None:
    # With sitecustomize the interpreter has gone on before us: modules hold copies.
    for m in [*modules.values()]:
        d = getattr(m, "__dict__", None)
        if type(d) is dict and m is not builtins:
            for attr, x in [*d.items()]:
                new = doors_of.get(id(x)) if type(x) is builtin else None
                if new is not None and kept(new)[0] is x:
                    d[attr] = new


doors_of = {}  # by id of the original


def write_over(m: object, names: dict) -> None:
    for attr, name in names.items():
        f = m
        for part in attr.split("."):
            f = getattr(f, part, None)
        if type(f) is function and name not in free:
            guard_body(f, pick_call, name, CATEGORY[name])


def unpickler(m: object) -> None:
    # A class in C cannot be changed: a class above it takes its name.
    raw = getattr(m, "Unpickler", None)
    if type(raw) is not type or raw in above_c or "pickle.Unpickler" in free:
        return

    class load:
        def __get__(self, obj: object, cls: object = None) -> object:
            f = raw.load if obj is None else raw.load.__get__(obj, raw)
            return shut(f, pick_call, "pickle.Unpickler", "deserialization")

    class signature:
        def __get__(self, obj: object, cls: object = None) -> object:
            if obj is not None or cls is not new:
                raise AttributeError("__signature__")
            return modules["inspect"].signature(raw)

    parts = {"__slots__": (), "__module__": raw.__module__, "__doc__": raw.__doc__, "load": load(), "__signature__": signature()}
    new = type("Unpickler", (raw,), parts)
    above_c.append(new)
    m.Unpickler = new


above_c = []


def anew() -> None:
    # A module in C can be made again, outside of the import system, with what it had at first.
    def made(what: object) -> object:
        def make(*args: object) -> object:
            m = what(*args)
            x = args[0] if m is None or m == 0 else m
            if type(x) is module:
                for do in hangings.get(text(getattr(x, "__name__", "")).rpartition(".")[2], ()):
                    do(x)
            return m

        f = disguise(make, _bootstrap._call_with_frames_removed)
        f.__name__ = f.__qualname__ = what.__name__
        f.__module__, f.__doc__ = "_imp", what.__doc__
        return f

    for name in ("create_builtin", "create_dynamic", "exec_builtin", "exec_dynamic"):
        setattr(imp, name, made(getattr(imp, name)))


def extensions(m: object) -> None:
    # The connection's class cannot be changed, either: it tells the audit hooks, from 3.10 on.
    if not hasattr(getattr(m, "Connection", None), "enable_load_extension"):
        return
    for event in ("enable_load_extension", "load_extension"):
        name = "sqlite3.Connection." + event
        if name not in free:
            AUDITED["sqlite3." + event] = (None, pick_call, name, "native", event)
    if AUDITED and ENFORCE:
        try:
            add_hook(audit)
        except RuntimeError:
            pass


def audit(event: str, args: tuple) -> None:
    e = AUDITED.get(event)
    if e is not None and args[-1] is not False:
        do = pick_call(e, getframe(0).f_back)
        if do is not None:
            do()


def stepping(m: object) -> None:
    # A debugger that goes step by step goes past what is ours.
    dispatch = m.Bdb.dispatch_call

    def dispatch_call(self: object, frame: object, arg: object) -> object:
        file = frame.f_code.co_filename
        return None if file == HERE or file.startswith(PACKAGE + "/") else dispatch(self, frame, arg)

    m.Bdb.dispatch_call = disguise(dispatch_call, dispatch)


AUDITED = {}
add_hook = sys.addaudithook


def calls() -> None:
    # Each door when its module is there; os copies posix, and finds the doors.
    at = {m: {} for m in HUNG}
    for name in CATEGORY:
        m, _, attr = name.rpartition(".")
        m = HOMES.get(m, m)
        if m in at:
            at[m][attr] = name
    for m, names in TWINS.items():
        at.setdefault(m, {}).update(names)
    for m, names in at.items():
        hung = lambda m, names=names: hang(m, names)
        if m == "sys.monitoring":
            if hasattr(sys, "monitoring"):
                hung(sys.monitoring)
        else:
            whenever(m, hung)
    for m, names in WRITTEN.items():
        after(m, lambda m, names=names: write_over(m, names))
    after("bdb", stepping)
    whenever("_pickle", unpickler)
    whenever("_lsprof", lsprofs.append)
    whenever("_sqlite3", extensions)
    anew()
    if "os" in modules:
        copies()
