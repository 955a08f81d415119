"""The Toolkit before the real server: runs, output while they run, the background, files, limits, what is refused, the end."""

from __future__ import annotations

import json
import os
import sys
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

from psb import SandBoxCrashed, SandBoxError
from psb.agent import Answer, Result, Toolkit

kit: Toolkit


def setUpModule() -> None:
    global kit
    kit = Toolkit(slots=4, ceilings={"timeout_s": 60})


def tearDownModule() -> None:
    kit.close()


class Runs(unittest.TestCase):
    def test_python(self) -> None:
        r = kit.run_python(
            "import sys\nprint('out'); print('err', file=sys.stderr)\nrows = [int(x) for x in open('in.txt')] + list(open('b', 'rb').read())\n"
            "open('sum.csv', 'w').write(str(sum(rows)))\n{'sum': sum(rows), 'args': sys.argv[1:], 'in': sys.stdin.read()}",
            files={"in.txt": "1\n2\n", "b": b"\x00\xff"},
            args=["a"],
            stdin="typed",
            variables=["rows", "nothing"],
            timeout_s=20,
        )
        self.assertEqual((r.status, r.ok, r.exit_code, r.cleanup), ("ok", True, 0, "REMOVED"), r.text)
        self.assertEqual((r.stdout, r.stderr), ("out\n", "err\n"))
        self.assertEqual(r.data_value, {"sum": 258, "args": ["a"], "in": "typed"})
        self.assertEqual((r.variables["rows"].data, r.variables["nothing"].error), ([1, 2, 0, 255], "NameError: name 'nothing' is not defined"))
        self.assertEqual([(f.path, f.size, f.change) for f in r.files], [("sum.csv", 3, "created")])
        self.assertEqual(kit.fetch(r.files[0]), b"258")
        self.assertEqual(r.limits["timeout_s"].requested, 20)
        self.assertIn("[psb] ok: exit 0", r.text)

    def test_given_values(self) -> None:
        with Toolkit(values={"region": "\u00fc", "rates": {"EUR": [1, None]}}) as kit:
            self.assertEqual(kit.run_python("rates['EUR'].append(region)\nrates").data_value, {"EUR": [1, None, "\u00fc"]})
            self.assertEqual(kit.run_python("rates, region").data_value, [{"EUR": [1, None]}, "\u00fc"])
            about = [t["function"]["description"] for t in kit.schemas() if t["function"]["name"] == "run_python"]
            self.assertIn("given by the operator: rates (dict), region (str).", about[0])
        for values, words in (({"a": object()}, "no JSON form"), ({"a": float("nan")}, "no JSON form"), ({"a b": 1}, "a b: no name that can be given")):
            with self.assertRaisesRegex(SandBoxError, words):
                Toolkit(values=values)

    def test_what_is_kept(self) -> None:
        with Toolkit(options=["--cold"]) as kit:
            self.assertEqual(kit.kept(), [])
            for names in (range(64), range(64, 120)):
                self.assertTrue(kit.run_python(f"for i in {names!r}: open(str(i), 'w').write('of %d' % i)").ok)
            kept = kit.kept()  # more than a page
            self.assertEqual({(k.name, k.size) for k in kept}, {(f"files/{i}", len(f"of {i}")) for i in range(120)})
            self.assertEqual(len(kept), 120)
            self.assertEqual({kit.fetch(k.uri) for k in kept[:2]}, {f"of {k.name[6:]}".encode() for k in kept[:2]})

    def test_what_is_asked_before_it_runs(self) -> None:
        asked, answers = [], [True, False, None, "yes"]

        def ask(text: str) -> object:
            asked.append(text)
            return answers[len(asked) - 1]

        with Toolkit(on_ask=ask) as kit:
            r = kit.run_python("6 * 7")
            self.assertEqual((r.status, r.value, r.approval), ("ok", "42", "accepted"), r.text)
            self.assertEqual(asked[0].split("\n")[0], "Run this Python code in a psb sandbox?")
            self.assertEqual(asked[0].split("\n\n")[1], "6 * 7")
            for _ in answers[1:]:
                r = kit.run_command("echo ran; exit 3")
                self.assertEqual((r.status, r.reason, r.stdout), ("refused", "the person who was asked declined; nothing ran", ""))
            self.assertEqual(len(asked), 4)
            with self.assertRaises(IndexError):
                kit.run_python("1")
            kit.describe()
            self.assertEqual(len(asked), 5)
        with Toolkit(options=["--ask"]) as kit:
            self.assertIn("this client cannot ask", kit.run_python("1").reason)
        with Toolkit(options=["--ask=run"]) as kit:
            self.assertEqual(kit.run_python("1").approval, "not asked: the client cannot ask")

    def test_a_program_that_fails(self) -> None:
        r = kit.run_python("print('so far')\n1/0")
        self.assertEqual((r.status, r.ok, r.exit_code, r.stdout), ("error", False, 1, "so far\n"))
        assert r.error is not None
        self.assertEqual((r.error.type, r.error.message), ("ZeroDivisionError", "division by zero"))
        r = kit.run_command("exit 7")
        self.assertEqual((r.status, r.exit_code), ("error", 7))
        r = kit.run_python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
        self.assertEqual((r.status, r.signal, r.exit_code), ("killed", "SIGKILL", None))

    def test_limits_and_walls(self) -> None:
        r = kit.run_python("while True: pass", timeout_s=1)
        self.assertEqual((r.status, r.limit, r.limits["timeout_s"].reached), ("timeout", "wall", True), r.text)
        r = kit.run_python(f"open({os.path.abspath(__file__)!r})")
        assert r.error is not None
        self.assertEqual((r.status, r.error.type), ("error", "FileNotFoundError"), r.text)
        r = kit.run_python("import socket\nsocket.create_connection(('192.0.2.1', 80), 3)")
        self.assertEqual((r.status, r.denials), ("error", ["connect 192.0.2.1:80"]), r.text)
        r = kit.run_python("1", timeout_s=1000, tiemout=3)
        self.assertEqual((r.status, r.cleanup), ("refused", "NOT_ATTEMPTED"))
        self.assertIn("above the operator's ceiling of 60", r.reason)
        self.assertIn('unknown argument "tiemout"', r.reason)
        self.assertEqual(kit.limits()["timeout_s"], (30, 60))

    def test_a_command_and_bytes_that_are_no_text(self) -> None:
        r = kit.run_command("mkdir -p d; cd d; printf 'a\\377\\033'; cat ../in", files={"in": "x"})
        self.assertEqual((r.status, r.stdout_bytes, r.stdout), ("ok", b"a\xff\x1bx", "a\ufffd\\x1bx"))

    def test_output_comes_while_it_runs(self) -> None:
        seen, errors = [], []
        t = kit.start_python("1")  # something to talk to meanwhile

        def took(text: str) -> None:
            seen.append(text)
            if "go" in seen[0]:
                t.wait()  # calls from a handler are calls like any

        r = kit.run_python("import sys, time\nprint('go', flush=True)\nprint('no', file=sys.stderr)\nprint('on')", on_stdout=took, on_stderr=errors.append)
        self.assertEqual(("".join(seen), "".join(errors), r.stdout, r.missed_bytes), ("go\non\n", "no\n", "go\non\n", 0))

    def test_output_comes_before_the_end(self) -> None:
        class Seen(Exception):
            pass

        def took(text: str) -> None:
            raise Seen(text)  # which cancels the call: it would go on for ever

        with self.assertRaisesRegex(Seen, "first"):
            kit.run_python("import time\nprint('first', flush=True)\nwhile True: time.sleep(1)", on_stdout=took, timeout_s=60)

    def test_many_threads(self) -> None:
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda n: kit.run_python(f"open('f', 'w').write('{n}'); int(open('f').read()) ** 2"), range(12)))
        self.assertEqual([r.data_value for r in results], [n * n for n in range(12)])


class Background(unittest.TestCase):
    def test_logs_input_and_result(self) -> None:
        t = kit.start_command("echo one; read x; echo got $x; exit 3")
        t.send("a line\n", close=True)
        self.assertEqual("".join(t.follow()), "one\ngot a line\n")
        r = t.result()
        self.assertEqual((r.status, r.exit_code, r.stdout), ("error", 3, "one\ngot a line\n"))
        s = t.status()
        self.assertEqual((s.status, s.over, s.printed_bytes, s.tool), ("completed", True, 15, "run_shell"))
        part = t.logs(4)
        self.assertEqual((part.text, part.next_cursor, part.evicted_bytes, part.over), ("got a line\n", 15, 0, True))
        self.assertEqual(t.logs(tail=1).text, "got a line\n")
        self.assertIn(t.id, [x.id for x in kit.tasks()])
        with self.assertRaisesRegex(SandBoxError, "is over"):
            t.send("more")
        self.assertEqual(kit.task(t.id).result().exit_code, 3)

    def test_cancel_and_strangers(self) -> None:
        t = kit.start_python("import time\nprint('on', flush=True)\nwhile True: time.sleep(1)")
        next(t.follow())
        self.assertIsNone(t.wait(0))
        self.assertEqual(t.cancel().status, "cancelled")
        self.assertEqual(t.result().status, "cancelled")
        with self.assertRaisesRegex(SandBoxError, "no task"):
            kit.task("nobody").status()
        with self.assertRaisesRegex(SandBoxError, "unknown argument"):
            kit.start_python("1", nonsense=True)


class Models(unittest.TestCase):
    def test_schemas_are_the_tools(self) -> None:
        for format, key in (("openai", "function"), ("json", "")):
            self.assertEqual(sorted((s[key] if key else s)["name"] for s in kit.schemas(format)), kit.names)
        self.assertEqual(sorted(s["name"] for s in kit.schemas("mcp")["tools"]), kit.names)
        properties = next(s for s in kit.schemas() if s["function"]["name"] == "run_python")["function"]["parameters"]["properties"]
        self.assertEqual(properties["timeout_s"]["maximum"], 60)  # the options are those of the server
        with self.assertRaisesRegex(SandBoxError, "no such form"):
            kit.schemas("yaml")

    def test_calls_of_a_model(self) -> None:
        strict = next(s for s in kit.schemas(strict=True) if s["function"]["name"] == "run_python")["function"]
        arguments = {name: None for name in strict["parameters"]["required"]}
        a = kit.call("run_python", json.dumps({**arguments, "code": "6 * 7"}))
        self.assertTrue(isinstance(a, Result) and a.ok and a.data_value == 42, a.text)
        a = kit.call("describe", {"topic": "limits"})
        self.assertTrue(type(a) is Answer and a.ok and "timeout_s: 30 seconds" in a.text, a.text)
        self.assertFalse(kit.call("run_python", '{"cod": "1"}').ok)

    def test_describe_and_metrics(self) -> None:
        self.assertIn("default", kit.describe("profiles"))
        with Toolkit(tools=["run_python", "describe"]) as other:
            self.assertEqual(other.names, ["describe", "run_python"])
            self.assertFalse(other.call("run_shell", {"command": "true"}).ok)
            other.run_python("1")
            other.run_python("1/0")
            m = other.metrics()
        self.assertEqual((m.running, m.runs, m.by_status, m.denials), (0, 2, {"ok": 1, "error": 1}, 0))
        self.assertTrue(m.wall_s > 0)


class Ends(unittest.TestCase):
    def test_a_server_that_dies(self) -> None:
        other = Toolkit()
        began = threading.Event()
        caught = []

        def run() -> None:
            try:
                other.run_python("import time\nprint('on', flush=True)\nwhile True: time.sleep(1)", on_stdout=lambda text: began.set())
            except SandBoxError as e:
                caught.append(e)

        t = threading.Thread(target=run)
        t.start()
        self.assertTrue(began.wait(60))
        other._server.process.kill()
        t.join(60)
        self.assertEqual([type(e) for e in caught], [SandBoxCrashed])
        self.assertEqual(str(caught[0]), "psb: psb mcp ended: killed by signal 9")
        with self.assertRaises(SandBoxCrashed):
            other.run_python("1")
        other.close()

    def test_options_that_do_not_fit(self) -> None:
        with self.assertRaisesRegex(SandBoxError, 'refused to start: --max "nonsense" is none of timeout_s'):
            Toolkit(ceilings={"nonsense": 1})
        with self.assertRaisesRegex(SandBoxError, "--profiles /nowhere"):
            Toolkit(profiles="/nowhere")

    def test_closing_ends_what_runs(self) -> None:
        other = Toolkit()
        t = other.start_python("while True: pass")
        other.close()
        with self.assertRaises(SandBoxError):
            t.status()


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    unittest.main()
