"""Sessions of the Toolkit before the real server: state, shells, files from outside, interrupts, pauses, the end."""

from __future__ import annotations

import unittest

from psb import SandBoxError
from psb.agent import Edit, Session, Toolkit

kit: Toolkit


def setUpModule() -> None:
    global kit
    kit = Toolkit()


def tearDownModule() -> None:
    kit.close()


class Sessions(unittest.TestCase):
    def session(self) -> Session:
        s = kit.session(self.id().rpartition(".")[2].lower().replace("test_", ""))
        self.addCleanup(s.__exit__, None, None, None)
        return s

    def test_state_stays_and_is_apart(self) -> None:
        s = self.session()
        self.assertEqual(s.run_python("import json\nx = [1]\nopen('f', 'w').write('file')").status, "ok")
        r = s.run_python("x.append(2)\njson.dumps(x)", variables=["x"])
        self.assertEqual((r.data_value, r.variables["x"].data, r.session), ("[1, 2]", [1, 2], s.id), r.text)
        self.assertEqual(s.run_command("cat f").stdout, "file")
        with kit.session("another") as other:
            r = other.run_python("import os\n(os.path.exists('f'), 'x' in globals())")
            self.assertEqual(r.data_value, [False, False], r.text)
            self.assertEqual({x.id for x in kit.sessions()} & {s.id, "another"}, {s.id, "another"})
        self.assertNotIn("another", [x.id for x in kit.sessions()])
        self.assertEqual(kit.run_python("'x' in globals()").data_value, False)

    def test_info_reset_close(self) -> None:
        s = self.session()
        with self.assertRaisesRegex(SandBoxError, "no session"):
            s.info()
        s.run_python("x = 1")
        i = s.info()
        self.assertEqual((i.id, i.state, i.generation, i.lost), (s.id, "idle", 1, False))
        self.assertTrue(0 < i.expires_in_s)
        self.assertEqual(s.reset().generation, 2)
        r = s.run_python("x")
        assert r.error is not None
        self.assertEqual(r.error.type, "NameError")
        s.close()
        with self.assertRaisesRegex(SandBoxError, "no session"):
            s.close()

    def test_interrupt_keeps_the_state(self) -> None:
        s = self.session()
        s.run_python("x = 5")
        with self.assertRaisesRegex(SandBoxError, "nothing runs"):
            s.interrupt()
        t = s.start_python("import time\nprint('on', flush=True)\nwhile True: time.sleep(0.01)")
        next(t.follow())
        s.interrupt()
        self.assertFalse(t.result().ok)
        self.assertEqual(s.run_python("x").data_value, 5)

    def test_pause_and_resume(self) -> None:
        s = self.session()
        t = s.start_python("import time\nn = 0\nwhile not input():\n    n += 1\n    print(n, flush=True)\nn")
        t.send("\n")
        next(t.follow())
        self.assertEqual(s.pause().state, "paused")
        t.send("\n")
        before = t.status().printed_bytes
        self.assertIsNone(t.wait(0.5))
        self.assertEqual(t.status().printed_bytes, before)
        s.resume()
        t.send("end\n")
        self.assertEqual(t.result().data_value, 2)

    def test_output_comes_while_it_runs(self) -> None:
        seen = []
        r = self.session().run_python("print('a', flush=True)\nprint('b')", on_stdout=seen.append)
        self.assertEqual(("".join(seen), r.stdout), ("a\nb\n", "a\nb\n"))


class Shells(unittest.TestCase):
    def setUp(self) -> None:
        self.s = kit.session("shells")
        self.addCleanup(self.s.__exit__, None, None, None)
        self.sh = self.s.shell()

    def out(self, command: str, **arguments: object) -> str:
        r = self.sh.run(command, **arguments)
        self.assertEqual((r.status, r.stderr), ("ok", ""), r.text)
        return r.stdout

    def test_folder_variables_functions_and_options_stay(self) -> None:
        self.out("mkdir -p 'a b'; cd 'a b'; export E=1 ; v='it'\\''s\n two'; list=(x 'y z'); declare -A m=([k]=v); f() { echo \"f $1 $v\"; }; alias hi='echo hi'; set -o pipefail; shopt -s nullglob")
        self.assertEqual(self.out("pwd; printf '%s|' \"$E\" \"$v\" \"${list[1]}\" \"${m[k]}\"; f x"), "/workspace/a b\n1|it's\n two|y z|v|f x it's\n two\n")
        self.assertEqual(self.out("hi; set -o | grep pipefail; echo none*; sh -c 'echo $E $v'"), "hi\npipefail       \ton\n\n1\n")
        self.assertEqual(self.out("echo \"$1-$2\"", args=["one", "t wo"]), "one-t wo\n")
        self.assertEqual(self.s.shell("other").run("pwd; echo ${v-none}").stdout, "/workspace\nnone\n")

    def test_status_and_output_are_the_commands_own(self) -> None:
        r = self.sh.run("echo out; echo err >&2; exit 7")
        self.assertEqual((r.exit_code, r.stdout, r.stderr), (7, "out\n", "err\n"))
        self.assertEqual(self.sh.run("x=1; false").exit_code, 1)
        self.assertEqual(self.out("printf 'no end'; : $x"), "no end")
        self.assertEqual(self.out(""), "")
        self.assertEqual(self.out("cat <<'E'\n$x 'q'\nE\n"), "$x 'q'\n")
        r = self.sh.run("nothing-of-that-name")
        self.assertEqual(r.exit_code, 127)
        self.assertIn("nothing-of-that-name", r.stderr)
        self.assertNotEqual(self.sh.run("echo 'unfinished").exit_code, 0)
        self.assertEqual(self.sh.run("set -e; false; echo never").stdout, "")

    def test_what_replaces_the_shell_leaves_what_was_kept(self) -> None:
        self.out("v=kept")
        self.assertEqual(self.sh.run("v=gone; exec sh -c 'exit 3'").exit_code, 3)
        self.assertEqual(self.out("echo $v"), "kept\n")
        self.sh.run("big=$(head -c 300000 /dev/zero | tr '\\0' x)")
        self.assertEqual(self.out("echo ${#big}"), "300000\n")

    def test_names(self) -> None:
        for name in ("", "a/b", "..", "A", "x" * 65):
            with self.assertRaises(SandBoxError):
                self.s.shell(name)


class CloseAll(unittest.TestCase):
    def test_what_is_at_rest_is_closed_and_what_is_busy_is_told(self) -> None:
        with Toolkit() as kit:
            self.assertEqual(kit.close_sessions(), ([], []))
            kit.session("b").run_python("1")
            kit.session("a").run_python("1")
            task = kit.session("c").start_python("print('on', flush=True)\nwhile True: pass")
            self.assertEqual(next(task.follow()), "on\n")
            self.assertEqual(kit.close_sessions(), (["a", "b"], ["c"]))
            self.assertEqual([(s.id, s.state) for s in kit.sessions()], [("c", "busy")])
            kit.session("c").interrupt()
            self.assertEqual(task.result().status, "cancelled")
            self.assertEqual(kit.close_sessions().closed, ["c"])
            self.assertEqual(kit.sessions(), [])


class Workspace(unittest.TestCase):
    def test_files(self) -> None:
        with kit.session("files") as s:
            s.run_python("1")
            f = s.files
            blob = bytes(range(256)) * 3000  # more than a piece
            i = f.write("d/blob", blob)
            self.assertEqual((i.path, i.size, i.kind), ("d/blob", len(blob), "file"))
            self.assertTrue(f.read("d/blob") == blob)
            self.assertEqual(f.read("d/blob", 255, 3), b"\xff\x00\x01")
            self.assertEqual(s.run_python("len(open('d/blob', 'rb').read())").data_value, len(blob))
            f.write("t.txt", "one two two\n")
            f.write("t.txt", "\u00fc\n", append=True)
            self.assertEqual(f.edit("t.txt", "two", "2", expect_count=2), 2)
            self.assertEqual(f.read_text("t.txt"), "one 2 2\n\u00fc\n")
            with self.assertRaisesRegex(SandBoxError, "does not stand there"):
                f.edit("t.txt", "two", "3")
            self.assertEqual(f.edit("t.txt", "2", "3", expect_count=0), 2)
            with self.assertRaisesRegex(SandBoxError, r"edits\[1\]: old does not stand there; nothing was changed"):
                f.edit_all("t.txt", [("one", "1"), ("two", "2")])
            self.assertEqual(f.edit_all("t.txt", [("one", "1"), Edit("3", "x", 2), Edit("x x", "3 3")]), [1, 2, 1])
            self.assertEqual(f.edit_all("t.txt", [("1", "one")]), [1])
            self.assertEqual(f.read_text("t.txt"), "one 3 3\n\u00fc\n")
            self.assertEqual([(x.path, x.kind) for x in f.list()], [("d", "folder"), ("t.txt", "file")])
            self.assertEqual([x.path for x in f.list(depth=2)], ["d", "d/blob", "t.txt"])
            self.assertEqual([x.path for x in f.search(glob="**/blob")], ["d/blob"])
            self.assertEqual([(x.path, x.lines) for x in f.search(grep="^one")], [("t.txt", ((1, "one 3 3"),))])
            f.move("t.txt", "d/u.txt")
            self.assertEqual(f.chmod("d/u.txt", 0o750).mode, 0o750)
            self.assertEqual(f.info("d/u.txt").mode, 0o750)
            self.assertEqual(f.write("run.sh", "#!/bin/sh\necho ran\n", executable=True).mode & 0o100, 0o100)
            self.assertEqual(s.run_command("./run.sh").stdout, "ran\n")
            f.mkdir("e")
            with self.assertRaisesRegex(SandBoxError, "not empty"):
                f.delete("d")
            f.delete("d", recursive=True)
            self.assertEqual([x.path for x in f.list()], ["e", "run.sh"])
            for wrong in (lambda: f.read("none"), lambda: f.read("e"), lambda: f.read("../x"), lambda: f.info("d")):
                with self.assertRaises(SandBoxError):
                    wrong()

    def test_links_are_not_followed(self) -> None:
        with kit.session("links") as s:
            s.run_python("import os\nos.symlink('/etc', 'l'); os.symlink('/usr/bin/env', 'm')")
            for wrong in (lambda: s.files.read("l/hostname"), lambda: s.files.read("m"), lambda: s.files.write("l/x", "x")):
                with self.assertRaisesRegex(SandBoxError, "links are not followed"):
                    wrong()
            self.assertEqual([x.kind for x in s.files.list()], ["link", "link"])

    def test_no_session_no_files(self) -> None:
        with self.assertRaisesRegex(SandBoxError, "no session"):
            kit.session("nobodys").files.read("x")


if __name__ == "__main__":
    unittest.main()
