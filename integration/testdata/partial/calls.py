"""Calls: values, threads, tasks, prints, exceptions. One box for all of it."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import sys
import threading
import time
import traceback
import unittest
from concurrent.futures import ThreadPoolExecutor

import tools
from psb import SandBoxBaseExceptionError, SandBoxError, codec, execute, is_in_sandbox, run, sandbox, sandboxes
from psb.raised import RemoteTraceback

POLICY = os.path.join(os.path.dirname(os.path.abspath(__file__)), ".py-sandboxes")
started = []


def begin() -> None:
    print("beginning")
    started.append(os.getpid())


async def begin_async() -> None:
    started.append(asyncio.get_running_loop())


@sandbox
def add(a, b=0, *rest, **more):
    return a + b + sum(rest) + sum(more.values())


@sandbox
def where():
    return os.getpid(), is_in_sandbox(), sorted(sys.modules["__main__"].__dict__)[:1], __name__, len(started)


@sandbox
def nested(n):
    return add(n, 1)  # a plain call


@sandbox
def says(n):
    for i in range(20):
        print(f"{n}:{i}", end=" ")
        print(f"{n}!{i}", file=sys.stderr)
    sys.stdout.write(f"end {n}")
    sys.stdout.buffer.write(b" b")
    return n


@sandbox
def prints_then_raises(text):
    print(text)
    print("half a line", end="")
    raise ValueError("after")


@sandbox
async def says_async(n):
    for i in range(20):
        print(f"{n}:{i}", end=" ")
        await asyncio.sleep(0)
    return n


@sandbox
async def meets(n):
    if not hasattr(asyncio, "_met"):
        asyncio._met = []
    asyncio._met.append(n)
    while len(asyncio._met) < 10:
        await asyncio.sleep(0.001)
    return len(asyncio._met)


gate = threading.Barrier(50)


@sandbox
def together(n):
    gate.wait(30)
    return n


@sandbox
async def forever():
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        asyncio._was = "cancelled"


@sandbox
async def was():
    return getattr(asyncio, "_was", "")


@sandbox
async def loop_of_init():
    return started[0] is asyncio.get_running_loop()


@sandbox
def leaves(kind):
    if kind == "exit":
        sys.exit(3)
    if kind == "interrupt":
        raise KeyboardInterrupt
    if kind == "group":
        raise ExceptionGroup("g", [ValueError("a"), KeyError("b")])  # noqa: F821
    if kind == "unsendable":
        return object()
    if kind == "cycle":
        loop = []
        loop.append(loop)
        return loop


@sandbox
def big(n):
    return b"x" * n


@sandbox
def size(data):
    return len(data)


@sandbox
def echo(value):
    return value


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        out = io.StringIO()
        cls.block = sandboxes(begin, policy=POLICY)
        with contextlib.redirect_stdout(out):
            cls.block.__enter__()
        cls.began = out.getvalue()

    @classmethod
    def tearDownClass(cls):
        cls.block.__exit__(None, None, None)

    def test_a_call_runs_in_another_process_that_knows_where_it_is(self):
        pid, inside, _, name, begun = where()
        self.assertEqual((inside, name, begun), (True, "__mp_main__", 1))
        self.assertFalse(is_in_sandbox())
        self.assertNotIn(pid, (os.getpid(), os.getppid()))
        self.assertEqual(where()[0], pid)
        self.assertEqual(started, [])
        self.assertEqual(self.began, "beginning\n")

    def test_arguments_and_results_travel(self):
        self.assertEqual(add(1, 2, 3, x=4), 10)
        self.assertEqual(nested(4), 5)
        self.assertEqual(tools.Group.pid(), where()[0])
        value = {"a": [1, (2, 3)], 4: {5, 6}, "s": "\ud800"}
        self.assertEqual(echo(value), value)

    def test_classes_that_the_annotations_name_arrive_as_themselves(self):
        t = tools.table(["a", "b"])
        self.assertEqual(t, tools.Table([tools.Row("a", tools.Colour.RED), tools.Row("b", tools.Colour.RED)]))
        self.assertEqual(tools.taken(t), "RED")
        r = tools.untold("a")
        self.assertIs(type(r), codec.Record)
        self.assertEqual((r.name, r.fields["name"]), ("tools:Row", "a"))

    def test_what_cannot_travel_is_a_type_error(self):
        with self.assertRaisesRegex(TypeError, "cannot send a value of type object"):
            leaves("unsendable")
        with self.assertRaisesRegex(TypeError, "a list that contains itself"):
            leaves("cycle")
        with self.assertRaisesRegex(TypeError, "cannot send a value of type function"):
            echo(lambda: 1)
        self.assertEqual(add(1, 1), 2)

    def test_fifty_threads_run_at_once(self):
        with ThreadPoolExecutor(50) as pool:
            self.assertEqual(sorted(pool.map(together, range(50))), list(range(50)))

    def test_prints_come_back_to_the_thread_that_called(self):
        here = threading.local()

        class Split(io.TextIOBase):
            def __init__(self, name):
                self.name = name

            def write(self, text):
                setattr(here, self.name, getattr(here, self.name, "") + text)
                return len(text)

            def flush(self):
                pass

        def one(n):
            here.out = here.err = ""
            says(n)
            return here.out, here.err

        with contextlib.redirect_stdout(Split("out")), contextlib.redirect_stderr(Split("err")):
            with ThreadPoolExecutor(8) as pool:
                got = list(pool.map(one, range(24)))
        for n, (out, err) in enumerate(got):
            self.assertEqual(out, "".join(f"{n}:{i} " for i in range(20)) + f"end {n} b")
            self.assertEqual(err, "".join(f"{n}!{i}\n" for i in range(20)))

    def test_prints_come_back_to_the_task_that_called(self):
        from contextvars import ContextVar

        mine = ContextVar("mine")

        class Split(io.TextIOBase):
            def write(self, text):
                mine.get().append(text)
                return len(text)

        async def one(n):
            mine.set([])
            await says_async(n)
            return "".join(mine.get())

        async def all_of_them():
            return await asyncio.gather(*[one(n) for n in range(10)])

        with contextlib.redirect_stdout(Split()):
            got = asyncio.run(all_of_them())
        self.assertEqual(got, ["".join(f"{n}:{i} " for i in range(20)) for n in range(10)])

    def test_prints_of_any_size_come_back_and_those_before_an_exception(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            with self.assertRaisesRegex(ValueError, "after"):
                prints_then_raises("é" * 3_000_000)
        self.assertEqual(out.getvalue(), "é" * 3_000_000 + "\nhalf a line")

    def test_async_calls_are_tasks_of_one_loop(self):
        async def ten():
            return await asyncio.gather(*[meets(n) for n in range(10)])

        self.assertEqual(asyncio.run(ten()), [10] * 10)

    def test_cancelling_the_caller_cancels_the_call(self):
        async def go():
            task = asyncio.ensure_future(forever())
            await asyncio.sleep(0.05)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            while await was() != "cancelled":
                await asyncio.sleep(0.001)

        asyncio.run(asyncio.wait_for(go(), 20))

    def test_sync_and_async_calls_mix(self):
        async def go():
            loop = asyncio.get_running_loop()
            both = [meets(0), loop.run_in_executor(None, add, 1, 2)]
            return (await asyncio.gather(*both))[1]

        self.assertEqual(asyncio.run(go()), 3)

    def test_exceptions_keep_class_fields_chain_and_traceback(self):
        with self.assertRaises(tools.Odd) as caught:
            tools.odd("here")
        e = caught.exception
        self.assertEqual((e.args, e.where, e.size), (("here",), "here", 3))
        self.assertEqual(repr(e.__cause__), "KeyError('key')")
        self.assertIs(type(e.__cause__.__cause__), RemoteTraceback)
        text = "".join(traceback.format_exception(type(e), e, e.__traceback__))
        self.assertIn("raise Odd(where, 3) from e", text)
        self.assertIn('{}["key"]', text)
        self.assertNotIn("serve.py", e.__psb_traceback__)

    def test_what_ends_a_process_ends_no_caller(self):
        pid = where()[0]
        for kind, name in (("exit", "SystemExit"), ("interrupt", "KeyboardInterrupt")):
            with self.assertRaises(SandBoxBaseExceptionError) as caught:
                leaves(kind)
            self.assertEqual(caught.exception.name, name)
        self.assertEqual(where()[0], pid)

    @unittest.skipIf(sys.version_info < (3, 11), "no groups before 3.11")
    def test_groups_arrive(self):
        with self.assertRaises(ExceptionGroup) as caught:  # noqa: F821
            leaves("group")
        self.assertEqual([repr(x) for x in caught.exception.exceptions], ["ValueError('a')", "KeyError('b')"])

    def test_fifty_megabytes_travel_both_ways(self):
        n = 50_000_000
        self.assertEqual(big(n), b"x" * n)
        self.assertEqual(size(bytearray(n)), n)
        for n in (0, 1, 65_535, 65_536, 65_537, 524_289, 1_048_576):
            self.assertEqual(len(echo(b"y" * n)), n)
            self.assertEqual(len(echo("é" * n)), n)

    def test_arrays_travel(self):
        try:
            import numpy as np
        except ImportError:
            self.skipTest("no numpy for this interpreter")
        a = np.arange(1_000_000.0).reshape(1000, 1000)
        b = echo(a[:, ::2])
        self.assertTrue(np.array_equal(a[:, ::2], b))

    def test_opening_a_block_again_counts_and_takes_no_other_rules(self):
        pid = where()[0]
        with sandboxes():
            self.assertEqual(where()[0], pid)
        self.assertEqual(where()[0], pid)
        with self.assertRaisesRegex(SandBoxError, "is open already, and its rules hold"):
            with sandboxes(files={"data/": "read"}):
                pass

    def test_a_forked_copy_must_not_use_the_channel(self):
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                add(1, 2)
            except SandBoxError as e:
                os.write(w, str(e).encode())
            os._exit(0)
        os.close(w)
        os.waitpid(pid, 0)
        with os.fdopen(r) as f:
            self.assertIn("forked copy", f.read())
        self.assertEqual(add(1, 2), 3)


class Refusals(unittest.TestCase):
    def test_without_a_block_nothing_runs(self):
        with self.assertRaisesRegex(SandBoxError, "no sandboxes\\(\\) block is open"):
            add(1, 2)

    def test_what_cannot_be_sandboxed_is_refused_at_once(self):
        def generator():
            yield 1

        async def asyncs():
            yield 1

        for bad, words in ((generator, "generator"), (asyncs, "generator"), (lambda: 1, "top of a module"), (len, "builtin"), (int, "type")):
            with self.assertRaisesRegex(TypeError, words):
                sandbox(bad)

        def inner():
            pass

        with self.assertRaisesRegex(TypeError, "top of a module"):
            sandbox(inner)
        with self.assertRaisesRegex(TypeError, "init_fn is a function at the top"):
            sandboxes(lambda: None)

    def test_a_missing_psb_is_one_clear_error(self):
        with self.assertRaisesRegex(SandBoxError, "no program /no/such/psb: a sandbox needs it") as caught:
            sandboxes(psb="/no/such/psb")
        self.assertIn("install psb", caught.exception.hint)

    def test_unknown_arguments_are_named(self):
        for rules, words in (
            (dict(file={}), "no argument file: one of files, net"),
            (dict(files={"a": "reed"}), "no right 'reed': one of read, write"),
            (dict(files="a"), "files is a table"),
            (dict(env={"A": False}), "write false into the policy"),
            (dict(python_import={"a": False}), "write false into the policy"),
        ):
            with self.assertRaisesRegex(SandBoxError, words):
                sandboxes(policy=POLICY, **rules)


class Ways(unittest.TestCase):
    def test_run_is_asyncio_run_in_a_box(self):
        async def main():
            return await was(), where()[1]

        self.assertEqual(run(main(), policy=POLICY), ("", True))
        with self.assertRaisesRegex(ValueError, "a coroutine was expected"):
            run(3)

    def test_async_blocks_and_an_async_init(self):
        async def main():
            async with sandboxes(begin_async, policy=POLICY):
                return await loop_of_init()

        self.assertTrue(asyncio.run(main()))

    def test_an_init_that_fails_fails_the_block(self):
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            with sandboxes(fails, policy=POLICY):
                self.fail("never here")
        with self.assertRaisesRegex(SandBoxError, "no sandboxes"):
            add(1, 2)

    def test_execute_gives_output_end_and_variables(self):
        done = execute("x = [1, 2.5]\nz = object()\nprint('out')\nimport sys\nprint('err', file=sys.stderr)\nsys.exit(4)", ("x", "y", "z"))
        self.assertEqual((done.stdout, done.stderr, done.status, done.reason), ("out\n", "err\n", 4, "exit"))
        self.assertEqual(done.variables, {"x": [1, 2.5]})
        self.assertEqual(done.errors["y"], "no variable y")
        self.assertIn("cannot send a value of type object", done.errors["z"])
        done = execute("while True: pass", ("x",), limits={"wall": "1s"})
        self.assertEqual((done.status, done.reason, done.variables), (124, "wall", {}))
        done = execute("import os\nos.kill(os.getpid(), 9)")
        self.assertEqual((done.status, done.reason), (137, "signal"))
        done = execute("1/0")
        self.assertEqual((done.status, done.stderr.splitlines()[-1]), (1, "ZeroDivisionError: division by zero"))
        self.assertNotIn("psb/partial", done.stderr)
        with self.assertRaisesRegex(SandBoxError, "unknown limit"):
            execute("1", limits={"wal": "1s"})


def fails():
    1 / 0


if __name__ == "__main__":
    unittest.main(verbosity=2)
