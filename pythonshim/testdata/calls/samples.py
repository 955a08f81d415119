"""Calls each function of the registry once. `samples.py each` tries all in this process, `samples.py fork` each in a child, else the one named."""
import os
import sys
import tempfile


def after_fork(made):
    pid, fd = made if isinstance(made, tuple) else (made, None)
    if not pid:
        os._exit(7)
    if fd is not None:
        try:
            while os.read(fd, 100):
                pass
        except OSError:
            pass
    return os.waitpid(pid, 0)[1]


def ran(status):
    return os.waitpid(status, 0)[1] if status > 0 else status


def mod(name):
    return __import__(name, fromlist=["x"])


def process():
    p = mod("multiprocessing").get_context("fork").Process(target=print, args=("in the child",))
    p.start()
    p.join()
    return p.exitcode


def interpreter():
    m = mod("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
    return m.destroy(m.create())


def thread():
    t = mod("threading").Thread(target=print, args=("in the thread",))
    t.start()
    t.join()


def started(name):
    got = []
    m = mod("_thread")
    lock = m.allocate_lock()
    lock.acquire()
    getattr(m, name)(lambda: (got.append(1), lock.release()), *([()] if name == "start_new_thread" else []))
    lock.acquire()
    return got


def interrupted():
    try:
        mod("_thread").interrupt_main()
        mod("time").sleep(5)
    except KeyboardInterrupt:
        return "interrupted"


def shelf():
    name = os.path.join(tempfile.mkdtemp(), "shelf")
    with mod("shelve").open(name) as s:
        s["a"] = [1, 2]
        return s["a"]


def typed():
    lines = ["print('typed')"]

    def read(prompt):
        if not lines:
            raise EOFError
        return lines.pop()

    return mod("code").interact("", read, {}, "")


def connected(do):
    return do(mod("sqlite3").connect(":memory:"))


def here():
    return 1 / 0


def trace():
    try:
        here()
    except ZeroDivisionError:
        return [f.function for f in mod("inspect").trace()]


def doctested():
    m = mod("doctest")
    test = m.DocTestParser().get_doctest(">>> 1 + 1\n2\n", {}, "sample", None, 0)
    try:
        return m.DebugRunner().run(test).failed
    except m.UnexpectedException as e:
        raise e.exc_info[1]


def buffers(do):
    c = mod("ctypes")
    b = c.create_string_buffer(b"abcdef")
    do(c, b)
    return b.value


echo = "/bin/echo"
true = "/bin/true"
pickled = b"\x80\x04K\x01."
bytesio = lambda x: mod("io").BytesIO(x)

SAMPLES = {
    "os.system": lambda: os.system("exit 3"),
    "os.popen": lambda: os.popen("echo x").read(),
    "os.execl": lambda: os.execl(echo, "echo", "execl"),
    "os.execle": lambda: os.execle("/bin/sh", "sh", "-c", "echo $A", {"A": "execle"}),
    "os.execlp": lambda: os.execlp("echo", "echo", "execlp"),
    "os.execlpe": lambda: os.execlpe("sh", "sh", "-c", "echo $A", {"A": "execlpe", "PATH": "/bin"}),
    "os.execv": lambda: os.execv(echo, ["echo", "execv"]),
    "os.execve": lambda: os.execve(echo, ["echo", "execve"], {}),
    "os.execvp": lambda: os.execvp("echo", ["echo", "execvp"]),
    "os.execvpe": lambda: os.execvpe("echo", ["echo", "execvpe"], {"PATH": "/bin"}),
    "os.spawnl": lambda: os.spawnl(os.P_WAIT, true, "true"),
    "os.spawnle": lambda: os.spawnle(os.P_WAIT, true, "true", {}),
    "os.spawnlp": lambda: os.spawnlp(os.P_WAIT, "true", "true"),
    "os.spawnlpe": lambda: os.spawnlpe(os.P_WAIT, "true", "true", {"PATH": "/bin"}),
    "os.spawnv": lambda: ran(os.spawnv(os.P_NOWAIT, true, ["true"])),
    "os.spawnve": lambda: os.spawnve(os.P_WAIT, true, ["true"], {}),
    "os.spawnvp": lambda: os.spawnvp(os.P_WAIT, "true", ["true"]),
    "os.spawnvpe": lambda: os.spawnvpe(os.P_WAIT, "true", ["true"], {"PATH": "/bin"}),
    "os.posix_spawn": lambda: ran(os.posix_spawn(true, ["true"], {})),
    "os.posix_spawnp": lambda: ran(os.posix_spawnp("true", ["true"], {})),
    "os.fork": lambda: after_fork(os.fork()),
    "os.forkpty": lambda: after_fork(os.forkpty()),
    "subprocess.Popen": lambda: mod("subprocess").Popen([true]).wait(),
    "_posixsubprocess.fork_exec": lambda: mod("_posixsubprocess").fork_exec(),
    "pty.spawn": lambda: mod("pty").spawn(["/bin/true"]),
    "pty.fork": lambda: after_fork(mod("pty").fork()),
    "multiprocessing.Process.start": process,
    "_interpreters.create": interpreter,
    "os.kill": lambda: os.kill(os.getpid(), 0),
    "os.killpg": lambda: os.killpg(os.getpgrp(), 0),
    "os.nice": lambda: os.nice(0) >= 0,
    "os.setpriority": lambda: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0)),
    "os.abort": lambda: (mod("resource").setrlimit(mod("resource").RLIMIT_CORE, (0, 0)) if sys.argv[1] == "fork" else None, os.abort()),
    "os.setsid": lambda: os.setsid() is not None,
    "os.setpgid": lambda: os.setpgid(0, 0),
    "os.setpgrp": lambda: os.setpgrp(),
    "os.pidfd_open": lambda: os.pidfd_open(os.getpid()) > 2,
    "signal.alarm": lambda: mod("signal").alarm(0),
    "signal.setitimer": lambda: mod("signal").setitimer(mod("signal").ITIMER_REAL, 0),
    "signal.raise_signal": lambda: mod("signal").raise_signal(mod("signal").SIGURG),
    "signal.pthread_kill": lambda: mod("signal").pthread_kill(mod("threading").get_ident(), 0),
    "signal.pidfd_send_signal": lambda: mod("signal").pidfd_send_signal(-1, 0),
    "resource.setrlimit": lambda: mod("resource").setrlimit(mod("resource").RLIMIT_CPU, mod("resource").getrlimit(mod("resource").RLIMIT_CPU)),
    "resource.prlimit": lambda: len(mod("resource").prlimit(0, mod("resource").RLIMIT_CPU)),
    "sys.remote_exec": lambda: sys.remote_exec(-1, "x"),
    "os.setuid": lambda: os.setuid(os.getuid()),
    "os.setgid": lambda: os.setgid(os.getgid()),
    "os.seteuid": lambda: os.seteuid(os.geteuid()),
    "os.setegid": lambda: os.setegid(os.getegid()),
    "os.setreuid": lambda: os.setreuid(-1, -1),
    "os.setregid": lambda: os.setregid(-1, -1),
    "os.setresuid": lambda: os.setresuid(-1, -1, -1),
    "os.setresgid": lambda: os.setresgid(-1, -1, -1),
    "os.setgroups": lambda: os.setgroups(os.getgroups()),
    "os.initgroups": lambda: os.initgroups("nobody", 65534),
    "os.umask": lambda: os.umask(0o22),
    "os.unshare": lambda: os.unshare(0),
    "os.setns": lambda: os.setns(-1),
    "os.chroot": lambda: os.chroot("/"),
    "threading.Thread.start": thread,
    "_thread.start_new_thread": lambda: started("start_new_thread"),
    "_thread.start_joinable_thread": lambda: started("start_joinable_thread"),
    "_thread.interrupt_main": interrupted,
    "ctypes.CDLL": lambda: type(mod("ctypes").CDLL(None)).__name__,
    "ctypes.cast": lambda: mod("ctypes").cast(0, mod("ctypes").c_void_p).value,
    "ctypes.string_at": lambda: mod("ctypes").string_at(b"abc", 2),
    "ctypes.wstring_at": lambda: mod("ctypes").wstring_at("abc", 2),
    "ctypes.memoryview_at": lambda: len(mod("ctypes").memoryview_at(b"abc", 2)),
    "ctypes.memmove": lambda: buffers(lambda c, b: c.memmove(b, b"xy", 2)),
    "ctypes.memset": lambda: buffers(lambda c, b: c.memset(b, 65, 2)),
    "sqlite3.Connection.enable_load_extension": lambda: connected(lambda c: c.enable_load_extension(True)),
    "sqlite3.Connection.load_extension": lambda: connected(lambda c: c.load_extension("/nowhere")),
    "importlib.reload": lambda: mod("importlib").reload(mod("colorsys")).__name__,
    "sys._getframe": lambda: sys._getframe().f_code.co_name,
    "sys._getframemodulename": lambda: sys._getframemodulename(),
    "sys._current_frames": lambda: len(sys._current_frames()),
    "sys._current_exceptions": lambda: len(sys._current_exceptions()),
    "sys.settrace": lambda: sys.settrace(None),
    "sys.setprofile": lambda: sys.setprofile(None),
    "sys.addaudithook": lambda: sys.addaudithook(lambda *a: None),
    "threading.settrace": lambda: mod("threading").settrace(None),
    "threading.setprofile": lambda: mod("threading").setprofile(None),
    "threading.settrace_all_threads": lambda: mod("threading").settrace_all_threads(None),
    "threading.setprofile_all_threads": lambda: mod("threading").setprofile_all_threads(None),
    "sys.monitoring.register_callback": lambda: sys.monitoring.register_callback(0, sys.monitoring.events.PY_START, len),
    "gc.get_objects": lambda: type(mod("gc").get_objects()),
    "gc.get_referrers": lambda: type(mod("gc").get_referrers(1)),
    "gc.get_referents": lambda: mod("gc").get_referents([1]),
    "inspect.currentframe": lambda: mod("inspect").currentframe().f_code.co_name,
    "inspect.stack": lambda: mod("inspect").stack()[0].function,
    "inspect.trace": trace,
    "faulthandler.enable": lambda: mod("faulthandler").enable(),
    "code.interact": typed,
    "code.InteractiveInterpreter.runsource": lambda: mod("code").InteractiveInterpreter().runsource("print('run')"),
    "builtins.eval": lambda: eval("1 + 1"),
    "builtins.exec": lambda: exec("print('executed')"),
    "builtins.compile": lambda: compile("1", "file", "eval").co_filename,
    "bdb.Bdb.run": lambda: mod("bdb").Bdb().run("print('debugged')"),
    "bdb.Bdb.runeval": lambda: mod("bdb").Bdb().runeval("1 + 1"),
    "cProfile.Profile.runctx": lambda: type(mod("cProfile").Profile().runctx("1 + 1", {}, {})).__name__,
    "doctest.DocTestRunner.run": doctested,
    "profile.Profile.runctx": lambda: type(mod("profile").Profile().runctx("1 + 1", {}, {})).__name__,
    "timeit.Timer": lambda: mod("timeit").timeit("1 + 1", number=1) >= 0,
    "trace.Trace.runctx": lambda: mod("trace").Trace(trace=0, count=0).runctx("print('traced')", {}, {}),
    "pickle.load": lambda: mod("pickle").load(bytesio(pickled)),
    "pickle.loads": lambda: mod("pickle").loads(pickled),
    "pickle.Unpickler": lambda: mod("pickle").Unpickler(bytesio(pickled)).load(),
    "marshal.load": lambda: mod("marshal").load(bytesio(mod("marshal").dumps(1))),
    "marshal.loads": lambda: mod("marshal").loads(mod("marshal").dumps(1)),
    "shelve.open": shelf,
}


def there(name):
    x = None
    module, _, attr = name.rpartition(".")
    if name == "_interpreters.create":
        return True
    if module.startswith("sqlite3."):
        return sys.version_info >= (3, 10) and hasattr(mod("sqlite3").Connection, attr)
    try:
        parts = name.split(".")
        x = mod(parts[0])
        for part in parts[1:]:
            x = getattr(x, part)
    except AttributeError:
        return False
    return True


def tell(name):
    try:
        said = repr(SAMPLES[name]())
    except OSError as e:
        said = "refused " + e.qualname + " " + e.category if hasattr(e, "qualname") else type(e).__name__ + " " + str(e.errno)
    except Exception as e:
        said = type(e).__name__
    print(name, said, flush=True)


if __name__ == "__main__":
    if sys.argv[1] not in ("each", "fork"):
        tell(sys.argv[1])
        sys.exit()
    for name in SAMPLES:
        if not there(name):
            continue
        if sys.argv[1] == "each":
            tell(name)
            continue
        pid = os.fork()
        if not pid:
            tell(name)
            os._exit(0)
        print(name, "status", os.waitpid(pid, 0)[1], flush=True)
