"""psb.agent: what the client makes of a server's words, and of a server that misbehaves, ends, or does not read. The server here is a script."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import tempfile
import threading
import unittest
from typing import Any, Awaitable, Callable, List

from psb import SandBoxCrashed, SandBoxError, SandBoxProtocolError
from psb.agent import AsyncToolkit, Result, Toolkit
from psb.agent.answers import Answer, answer

SERVER = '''#!%s
import base64, json, os, sys, time
HOW = os.environ["HOW"]
if HOW == "refuses":
    sys.stderr.write("psb: --max nonsense\\npsb: hint: psb mcp --max timeout_s=60\\n"); sys.exit(125)
def say(m): sys.stdout.write(json.dumps(m) + "\\n"); sys.stdout.flush()
for line in sys.stdin:
    m = json.loads(line)
    if m["method"] == "notifications/cancelled":
        open(os.environ["NOTE"], "w").write(str(m["params"]["requestId"])); continue
    n, answer = m["id"], {"content": [{"type": "text", "text": "fine"}], "structuredContent": {"schema_version": 1, "status": "ok", "program": {"stdout": {"text": "out"}}}}
    if m["method"] == "tools/list":
        say({"jsonrpc": "2.0", "id": n, "result": {"tools": [{"name": "run_python", "inputSchema": {}}, {"name": "task", "inputSchema": {}}]}}); continue
    if m["method"] == "resources/read":
        say({"jsonrpc": "2.0", "id": n, "result": {"contents": [{"uri": "u", "blob": "AAE="}]}}); continue
    code = m["params"]["arguments"].get("code")
    if code == "ends": sys.stderr.write("psb: a reason\\n"); sys.stderr.flush(); os._exit(7)
    if code == "killed": os.kill(os.getpid(), 9)
    if code == "garbage": sys.stdout.write("no message\\n"); sys.stdout.flush(); continue
    if code == "list": say([1]); continue
    if code == "nested": sys.stdout.write("[" * 200000 + "\\n"); sys.stdout.flush(); continue
    if code == "stranger": say({"jsonrpc": "2.0", "id": 999999, "result": answer}); continue
    if code == "no result": say({"jsonrpc": "2.0", "id": n}); continue
    if code == "error": say({"jsonrpc": "2.0", "id": n, "error": {"code": -32603, "message": "it broke"}}); continue
    if code == "endless":
        try:
            while True: os.write(1, b"x" * 65536)
        except OSError: sys.exit()
    if code == "waits": continue
    if code == "odd": answer = {"content": "x", "structuredContent": {"schema_version": 1, "limits": [3], "files": {}, "program": {"stdout": 5, "variables": [1]}, "exit": 3, "denials": [None]}}
    if code.startswith("prints"):
        token = m["params"]["_meta"]["progressToken"]
        for part in ([{"stream": "stdout", "base64": base64.b64encode("x\\u00fc".encode()[:2]).decode()}], [{"stream": "stdout", "base64": base64.b64encode("x\\u00fc".encode()[2:]).decode()}, {"stream": "stderr", "lost_bytes": 5}], "no list", [3, {"stream": "other"}]):
            say({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 0, "_meta": {"psb/output": part}}})
    if code == "floods":
        token = m["params"]["_meta"]["progressToken"]
        for _ in range(400):
            say({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 0, "_meta": {"psb/output": [{"stream": "stdout", "base64": base64.b64encode(b"x" * 65536).decode()}]}}})
    if code == "prints and waits": continue
    say({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
    say({"jsonrpc": "2.0", "id": n, "result": answer})
'''


class WithServer(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.psb = os.path.join(self.dir.name, "psb")
        with open(self.psb, "w") as f:
            f.write(SERVER % sys.executable)
        os.chmod(self.psb, stat.S_IRWXU)
        self.note = os.path.join(self.dir.name, "note")

    def kit(self, how: str = "") -> Toolkit:
        kit = Toolkit(psb=self.psb, env={**os.environ, "HOW": how, "NOTE": self.note})
        self.addCleanup(kit.close)
        return kit


class Agent(WithServer):
    def test_a_server_that_ends_is_one_clear_exception_for_every_call(self) -> None:
        for code, status, words in (("ends", 7, "exit status 7"), ("killed", -9, "killed by signal 9")):
            kit = self.kit()
            errors: List[BaseException] = []

            def wait() -> None:
                try:
                    kit.run_python("waits")
                except SandBoxError as e:
                    errors.append(e)

            others = [threading.Thread(target=wait) for _ in range(5)]
            for t in others:
                t.start()
            with self.assertRaisesRegex(SandBoxCrashed, words) as caught:
                kit.run_python(code)
            self.assertEqual(caught.exception.status, status)
            for t in others:
                t.join()
            self.assertEqual([type(e) for e in errors], [SandBoxCrashed] * 5)
            self.assertEqual(len({id(e) for e in errors}), 5)  # a traceback belongs to one caller
            with self.assertRaisesRegex(SandBoxCrashed, words):
                kit.run_python("1")

    def test_what_is_no_message_ends_the_server(self) -> None:
        for code in ("garbage", "list", "nested", "stranger", "endless"):
            kit = self.kit()
            with self.subTest(code), self.assertRaises(SandBoxProtocolError):
                kit.run_python(code)
            self.assertIsNotNone(kit._server.process.poll())

    def test_an_error_of_the_protocol_is_its_callers_alone(self) -> None:
        kit = self.kit()
        with self.assertRaisesRegex(SandBoxError, "it broke"):
            kit.run_python("error")
        with self.assertRaises(SandBoxProtocolError):
            kit.run_python("no result")
        self.assertTrue(kit.run_python("1").ok)
        self.assertFalse(os.path.exists(self.note))  # an answered request is not cancelled

    def test_a_refusal_to_start_says_why(self) -> None:
        with self.assertRaisesRegex(SandBoxError, "refused to start: --max nonsense$") as caught:
            self.kit("refuses")
        self.assertEqual(caught.exception.hint, "psb mcp --max timeout_s=60")
        with self.assertRaisesRegex(SandBoxError, "no program /nowhere/psb") as caught:
            Toolkit(psb="/nowhere/psb")
        self.assertEqual(caught.exception.hint, 'install psb, or Toolkit(psb="/path/to/psb")')

    def test_output_is_text_whole_characters_and_its_gaps_are_counted(self) -> None:
        kit, out, err = self.kit(), [], []  # type: ignore[var-annotated]
        r = kit.run_python("prints", on_stdout=out.append, on_stderr=err.append)
        self.assertEqual((out, err, r.missed_bytes, r.stdout), (["x", "\u00fc"], [], 5, "out"))

    def test_slow_handlers_cost_bounded_memory_and_lose_what_they_miss(self) -> None:
        kit, got = self.kit(), []  # type: ignore[var-annotated]

        def slow(text: str) -> None:
            if not got:
                kit.run_python("1")  # answered behind the flood: all of it was read meanwhile
            got.append(len(text))

        r = kit.run_python("floods", on_stdout=slow)
        self.assertGreater(r.missed_bytes, 0)
        self.assertLess(sum(got), 10 << 20)
        self.assertEqual(sum(got) + r.missed_bytes, 400 * 65536)

    def test_what_ends_the_waiting_cancels_the_call(self) -> None:
        kit = self.kit()

        def fails(text: str) -> None:
            raise KeyError(text)

        with self.assertRaises(KeyError):
            kit.run_python("prints", on_stdout=fails)
        self.assertTrue(kit.run_python("1").ok)
        with open(self.note) as f:
            self.assertEqual(f.read(), "2")

    def test_mistakes_of_a_model_are_answers(self) -> None:
        kit = self.kit()
        for name, arguments in (("run_ruby", "{}"), ("run_python", "{"), ("run_python", "[1]"), ("run_python", "[" * 100000)):
            a = kit.call(name, arguments)
            self.assertFalse(a.ok)
            self.assertTrue(a.text.startswith("[psb] refused: "), a.text)
        self.assertTrue(kit.call("run_python", '{"code": "1", "timeout_s": null}').ok)

    def test_an_odd_answer_is_no_crash(self) -> None:
        r = self.kit().run_python("odd")
        self.assertEqual((r.text, r.stdout, r.files, r.variables, r.exit_code, r.denials), ("", "", [], {}, None, []))

    def test_a_closed_toolkit_says_so_and_closing_twice_is_nothing(self) -> None:
        kit = self.kit()
        kit.close()
        kit.close()
        with self.assertRaisesRegex(SandBoxError, "^psb: this Toolkit is closed$"):
            kit.run_python("1")
        self.assertIsNotNone(kit._server.process.poll())

    def test_a_forked_copy_may_not_use_it_and_harms_nothing(self) -> None:
        kit = self.kit()
        if sys.version_info >= (3, 12):
            import warnings

            warnings.simplefilter("ignore", DeprecationWarning)
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                kit.run_python("1")
            except SandBoxError as e:
                os.write(w, str(e).encode())
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        self.assertIn(b"belongs to the process that made it", os.read(r, 1000))
        os.close(r)
        os.close(w)
        self.assertTrue(kit.run_python("1").ok)

    def test_closing_ends_calls_that_wait(self) -> None:
        kit = self.kit()
        with self.assertRaisesRegex(SandBoxError, "^psb: this Toolkit is closed$"):
            kit.run_python("prints and waits", on_stdout=lambda text: kit.close())

    def test_what_cannot_be_sent_is_its_callers_mistake(self) -> None:
        kit = self.kit()
        for code, error in (("x" * (17 << 20), SandBoxError), ({1}, TypeError), (float("nan"), ValueError)):
            with self.assertRaises(error):
                kit.run_python(code)  # type: ignore[arg-type]
        self.assertTrue(kit.run_python("1").ok)

    def test_fetch_compares_the_hash(self) -> None:
        from psb.agent import File

        kit = self.kit()
        self.assertEqual(kit.fetch("psb://x"), b"\0\1")
        with self.assertRaisesRegex(SandBoxProtocolError, "others than"):
            kit.fetch(File("f", 2, "00", "", "created", "", "psb://x"))
        with self.assertRaisesRegex(SandBoxError, "too large"):
            kit.fetch(File("f", 2, "00", "", "created", "too large", ""))


class Async(WithServer):
    """The same server, awaited."""

    def awaited(self, act: Callable[[AsyncToolkit], Awaitable[None]]) -> None:
        async def all_of_it() -> None:
            async with AsyncToolkit(psb=self.psb, env={**os.environ, "HOW": "", "NOTE": self.note}) as kit:
                await asyncio.wait_for(act(kit), 60)

        asyncio.run(all_of_it())

    def test_it_has_what_the_toolkit_has(self) -> None:
        from psb.agent import aio, files, sessions, shells, tasks

        for theirs, ours in ((Toolkit, aio.AsyncToolkit), (tasks.Task, aio.AsyncTask), (sessions.Session, aio.AsyncSession), (shells.Shell, aio.AsyncShell), (files.Files, aio.AsyncFiles)):
            lacks = {n for n in vars(theirs) if not n.startswith("_")} - {n for n in vars(ours)}
            self.assertEqual(lacks - {"most_of_a_read"}, set(), theirs)

    def test_calls_go_beside_each_other_and_handlers_run_in_the_loop(self) -> None:
        async def act(kit: AsyncToolkit) -> None:
            here, got = threading.get_ident(), []  # type: ignore[var-annotated]

            async def later(text: str) -> None:
                await asyncio.sleep(0)
                got.append((text, threading.get_ident() == here))

            results = await asyncio.gather(kit.run_python("prints", on_stdout=later), kit.run_python("1"), kit.describe() if "describe" in kit.names else kit.run_python("2"))
            self.assertEqual(got, [("x", True), ("\u00fc", True)])
            self.assertEqual([r.ok for r in results if isinstance(r, Result)], [True] * 3)
            self.assertEqual(await kit.fetch("psb://x"), b"\0\1")

        self.awaited(act)

    def test_a_cancelled_task_cancels_its_call(self) -> None:
        async def act(kit: AsyncToolkit) -> None:
            printed = asyncio.Event()
            task = asyncio.ensure_future(kit.run_python("prints and waits", on_stdout=lambda text: printed.set()))
            await printed.wait()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            while not os.path.exists(self.note):
                await kit.run_python("1")  # the server reads one message after the other
            self.assertTrue((await kit.run_python("1")).ok)
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(kit.run_python("waits"), 0.01)

        self.awaited(act)

    def test_exceptions_are_those_of_the_toolkit(self) -> None:
        async def act(kit: AsyncToolkit) -> None:
            def fails(text: str) -> None:
                raise KeyError(text)

            with self.assertRaises(KeyError):
                await kit.run_python("prints", on_stdout=fails)
            with self.assertRaisesRegex(SandBoxError, "it broke"):
                await kit.run_python("error")
            with self.assertRaises(SandBoxCrashed):
                await asyncio.gather(kit.run_python("waits"), kit.run_python("ends"))

        self.awaited(act)
        with self.assertRaisesRegex(SandBoxError, "has no server yet"):
            asyncio.run(AsyncToolkit().run_python("1"))
        with self.assertRaisesRegex(SandBoxError, "no program /nowhere/psb"):
            asyncio.run(AsyncToolkit(psb="/nowhere/psb").__aenter__())


class Answers(unittest.TestCase):
    def test_any_json_is_an_answer(self) -> None:
        values: List[Any] = [None, 1, "x", [], {}, [None], {"a": 1}, True]
        for v in values:
            for key in ("content", "structuredContent", "_meta", "isError"):
                self.assertIsInstance(answer({key: v}), Answer)
            for key in ("status", "exit", "limits", "denials", "delivery", "files", "program", "cleanup", "wall_s", "session"):
                self.assertIsInstance(answer({"structuredContent": {"schema_version": 1, key: v}}), Result)
            for key in ("stdout", "result", "error", "variables"):
                self.assertIsInstance(answer({"structuredContent": {"schema_version": 1, "program": {key: v}}}), Result)


if __name__ == "__main__":
    unittest.main()
