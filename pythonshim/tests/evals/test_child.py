"""Evaluations in a child: killed at the deadline, reaped, nothing left behind."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import EVERYTHING, HAS  # noqa: E402
from psb.errors import EvalInterrupted, EvalSyntaxRejected, RuleEvalPermissionError, SandBoxBaseExceptionError, SandBoxError  # noqa: E402
from psb.evals import child  # noqa: E402
from psb.guarded import guarded_eval  # noqa: E402

OPEN = {
    **EVERYTHING,
    "timeout": "30s",
    "max_iterations": 10**15,
    "max_alloc": "20M",
    "import": ["*", "time", "os"],
    "magic": ["__enter__", "__exit__"],
}
SLOW = {
    "a loop of C": ("eval", "sum(range(10**14))"),
    "a regular expression": ("exec", "import re\nx = re.match('(a+)+b', 'a' * 60)"),
    "sleep": ("eval", "sleep(100)"),
    "swallowed": (
        "exec",
        "class Keep:\n    def __enter__(self): return self\n    def __exit__(self, *a): return True\nwhile True:\n    with Keep():\n        try:\n"
        "            while True: pass\n        except BaseException: pass\n        finally:\n            for _ in iter(int, 1): pass\n",
    ),
}


def run(text, mode="eval", names=None, **k):
    return guarded_eval(text, names=names, mode=mode, rules=k.pop("rules", OPEN), **k)


class Child(unittest.TestCase):
    def setUp(self):
        self.before = sorted(os.listdir("/proc/self/fd"))

    def tearDown(self):
        self.assertLessEqual(set(os.listdir("/proc/self/fd")), set(self.before))
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)

    def test_values(self):
        import datetime
        import decimal

        for v in (1, "é", b"x", [1, (2, {"k": {3}})], None, 2.5, 1j, 10**400, datetime.date(2020, 1, 2), decimal.Decimal("1.5"), "x" * 100000):
            self.assertEqual(run("v", names={"v": v}), v)
        self.assertEqual(run("x = a + 1\ny = [x]\ndef f(): pass\n", "exec", {"a": 1}), {"x": 2, "y": [2]})
        self.assertEqual(run("a", names={"a": 1}, mode="eval"), 1)
        with self.assertRaises(ValueError):
            run("1", mode="single")
        with self.assertRaises(ValueError) as caught:
            guarded_eval("1")
        self.assertIn("rules=", str(caught.exception))

    def test_errors(self):
        for text, kind in (("1/0", ZeroDivisionError), ("{}['k']", KeyError), ("nope", NameError), ("int('x')", ValueError), ("1 +", SyntaxError)):
            with self.assertRaises(kind) as caught:
                run(text)
            self.assertIs(type(caught.exception), kind)
        with self.assertRaises(EvalSyntaxRejected) as rejected:
            run("().__class__ + {}.__mro__")
        self.assertEqual([(v.line, v.column, v.what) for v in rejected.exception.violations], [(1, 0, "magic __class__"), (1, 15, "magic __mro__")])
        self.assertEqual(rejected.exception.violations[0].fix, 'rules["magic"] = ["__enter__", "__exit__", "__class__"]')
        with self.assertRaises(RuleEvalPermissionError) as rule:
            run("getattr(1, '__cl' + 'ass__')")
        self.assertEqual((rule.exception.target, rule.exception.key), ("__class__", "magic"))
        with self.assertRaises(SandBoxBaseExceptionError) as base:
            run("raise KeyboardInterrupt", "exec", rules={**OPEN, "call": ["KeyboardInterrupt"]})
        self.assertEqual(base.exception.name, "KeyboardInterrupt")
        for text in ("type(1)", "lambda: 1", "(x for x in [1])"):
            with self.assertRaises(RuleEvalPermissionError):
                run(text)

    def test_timeouts(self):
        OPEN["call"] = [*OPEN["call"], "sleep"]
        for name, (mode, text) in SLOW.items():
            with self.subTest(name):
                with self.assertRaises(EvalInterrupted) as caught:
                    run(text, mode, {"sleep": time.sleep}, rules={**OPEN, "timeout": "300ms"})
                self.assertEqual(caught.exception.reason, "timeout")
                self.assertEqual(run("1+1"), 2)

    def test_ten_in_a_row(self):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(10):
            with self.assertRaises(EvalInterrupted):
                run("sum(range(10**14))", rules={**OPEN, "timeout": "100ms"})
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 16 << 10)
        self.assertEqual(run("1+1"), 2)
        self.assertEqual(threading.active_count(), 1)

    def test_this_process_goes_on_meanwhile(self):
        turns = []
        done = threading.Event()

        def count():
            while not done.is_set():
                turns.append(1)
                time.sleep(0.001)

        t = threading.Thread(target=count)
        t.start()
        try:
            with self.assertRaises(EvalInterrupted):
                run("sum(range(10**14))", rules={**OPEN, "timeout": "1s"})
        finally:
            done.set()
            t.join()
        self.assertGreater(len(turns), 20)

    def test_memory(self):
        with self.assertRaises(EvalInterrupted) as caught:
            run(
                "import collections, itertools\nx = [collections.deque(itertools.repeat(0, 10**9))]",
                "exec",
                rules={**OPEN, "max_alloc": "1G", "timeout": "5s"},
            )
        self.assertIn(caught.exception.reason, ("max_alloc", "timeout"))
        with self.assertRaises(EvalInterrupted) as caught:
            run("import re\nx = re.sub('a', 'b' * 100000, 'a' * 100000)", "exec")
        self.assertEqual(caught.exception.reason, "max_alloc")

    def test_a_crash_is_told_and_stays_there(self):
        def crash():
            os.kill(os.getpid(), signal.SIGSEGV)

        with self.assertRaises(SandBoxError) as caught:
            run("crash()", names={"crash": crash}, rules={**OPEN, "call": ["crash"]})
        self.assertIn("signal 11", str(caught.exception))
        self.assertEqual(run("1+1"), 2)

    def test_nothing_of_the_text_stays(self):
        box = []
        self.assertIsNone(run("box.append(1)", names={"box": box}))
        self.assertEqual(box, [])

    def test_descriptors_are_not_there(self):
        r, w = os.pipe()
        os.set_inheritable(w, True)
        try:
            names = {"n": lambda: sorted(int(x) for x in os.listdir("/proc/self/fd")), "w": lambda: os.write(w, b"x")}
            self.assertLess(len(run("n()", names=names, rules={**OPEN, "call": ["n"]})), 6)
            with self.assertRaises(OSError):
                run("w()", names=names, rules={**OPEN, "call": ["w"]})
        finally:
            os.close(r)
            os.close(w)

    def test_files_cannot_grow(self):
        import tempfile

        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "f")

            def write():
                with open(path, "w") as f:
                    f.write("x" * 10000)

            write()
            os.remove(path)
            with self.assertRaises(OSError):
                run("write()", names={"write": write}, rules={**OPEN, "call": ["write"]})
            self.assertEqual(os.path.exists(path) and os.path.getsize(path), 0)

    def test_prints_come_back(self):
        code = (
            "from psb.guarded import guarded_eval\nprint('before', end=' ')\nguarded_eval('print(1, 2)', rules={'call': ['print']})\nprint('after')\n"
        )
        out = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, env={**os.environ}).stdout
        self.assertEqual(out, b"before 1 2\nafter\n")

    def test_a_program_that_ignores_its_children(self):
        old = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        try:
            self.assertEqual(run("1+1"), 2)
            with self.assertRaises(EvalInterrupted):
                run("sum(range(10**14))", rules={**OPEN, "timeout": "100ms"})
        finally:
            signal.signal(signal.SIGCHLD, old)

    def test_threads_do_not_warn(self):
        import warnings

        stop = threading.Event()
        t = threading.Thread(target=stop.wait)
        t.start()
        try:
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                self.assertEqual(run("1+1"), 2)
            self.assertEqual(seen, [])
        finally:
            stop.set()
            t.join()

    def test_from_a_thread(self):
        out = []
        t = threading.Thread(target=lambda: out.append(run("1+1")))
        t.start()
        t.join()
        self.assertEqual(out, [2])

    def test_fork_refused(self):
        def refuse():
            raise PermissionError(1, "no")

        old, child._fork = child._fork, refuse
        try:
            with self.assertRaises(SandBoxError) as caught:
                run("1+1")
        finally:
            child._fork = old
        self.assertIs(type(caught.exception), SandBoxError)
        self.assertIn("fork is refused", str(caught.exception))
        self.assertIn("in_process", caught.exception.hint)

    def test_a_hostile_answer_is_no_value(self):
        for raw in (b"", b"x" * 100, b"psbe" + b"\0" * 7, child._HEAD.pack(b"psbe", 3) + b"abc"):
            from psb import codec

            with self.assertRaises((SandBoxError, EvalInterrupted)):
                child._value(raw, 0, None, codec)

    def test_the_child_ends_without_its_parent(self):
        code = (
            "import os, sys, time\nfrom psb.guarded import guarded_eval\n"
            "def tell():\n    os.write(9, str(os.getpid()).encode())\n    return 1\n"
            "from psb.evals import child\nchild._descriptors = lambda w: None\n"
            "guarded_eval('[tell(), sum(range(10**14))]', names={'tell': tell}, rules={'syntax': ['arith'], 'call': ['tell', 'sum', 'range'], 'timeout': '3s', 'max_iterations': 10**15})\n"
        )
        r, w = os.pipe()
        p = subprocess.Popen([sys.executable, "-c", f"import os\nos.dup2({w}, 9)\n" + code], pass_fds=(w,), env={**os.environ})
        os.close(w)
        pid = int(os.read(r, 100))
        p.kill()
        p.wait()
        # The pipe's last writer is the child: it ends when the child does.
        self.assertEqual(os.read(r, 1), b"")
        os.close(r)
        self.assertGreater(pid, 0)


if __name__ == "__main__":
    assert HAS
    unittest.main()
