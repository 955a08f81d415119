"""The walls: what a box may not, how its refusal arrives, what rules of a call add. Each refusal has its control: the same without a box."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import unittest

from psb import SandBoxError, execute, is_in_sandbox, sandbox, sandbox_denials, sandboxes

HERE = os.path.dirname(os.path.abspath(__file__))
POLICY = os.path.join(HERE, ".py-sandboxes")


def read(path):
    with open(path) as f:
        return f.read()


def write(path, text):
    with open(path, "w") as f:
        return f.write(text)


def names(path):
    return sorted(os.listdir(path))


def variable(name):
    return os.environ.get(name)


def descriptors():
    return sorted(int(n) for n in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{n}"))


def leads(descriptor):
    return os.readlink(f"/proc/self/fd/{descriptor}")


def processes():
    return [n for n in os.listdir("/proc") if n.isdigit()]


def reach(port):
    with socket.create_connection(("127.0.0.1", port), 5) as s:
        return s.recv(10)


def wrapped(path):
    try:
        return read(path)
    except OSError as e:
        raise LookupError("in its own words") from e


boxed = {f.__name__: sandbox(f) for f in (read, write, names, variable, descriptors, leads, processes, reach, wrapped)}


plain = {n: f.__wrapped__ for n, f in boxed.items()}
globals().update(boxed)  # a box finds them by their names


class Walls(unittest.TestCase):
    def setUp(self):
        os.makedirs(HERE + "/data", exist_ok=True)
        for name in ("unlisted.txt", "data/in.csv"):
            plain["write"](os.path.join(HERE, name), name)

    def refused(self, f, *args):
        with self.assertRaises(OSError) as caught:
            f(*args)
        return caught.exception

    def test_a_file_without_a_line_is_refused_and_the_refusal_arrives(self):
        secret = HERE + "/unlisted.txt"
        self.assertEqual(plain["read"](secret), "unlisted.txt")  # the control
        with sandboxes(policy=POLICY):
            e = self.refused(boxed["read"], secret)
            self.assertEqual((type(e), e.filename), (PermissionError, secret))
            self.assertEqual(sandbox_denials(e), ["read unlisted.txt"])
            with self.assertRaises(LookupError) as caught:
                boxed["wrapped"](secret)
            self.assertEqual(sandbox_denials(caught.exception), ["read unlisted.txt"])
            e = self.refused(boxed["read"], HERE + "/nothing.txt")
            self.assertEqual(sandbox_denials(e), [])  # it would have failed without psb, too
            self.assertEqual(sandbox_denials(ValueError("x")), [])

    def test_psb_tells_at_the_end_of_the_box_what_was_refused_in_it(self):
        line = plain["read"].__code__.co_firstlineno + 1
        for right, hint in (("", "psb policy add read unlisted.txt"), ("hide", 'command line hides it ("unlisted.txt")')):
            rules = {"walls.py": "read", **({"unlisted.txt": right} if right else {})}
            program = "import walls\nfrom psb import sandboxes\n\nif __name__ == '__main__':\n"
            program += f"    with sandboxes(policy='.py-sandboxes', files={rules!r}):\n        try:\n            walls.read('unlisted.txt')\n"
            program += "        except OSError:\n            pass\n"
            plain["write"](HERE + "/tells.py", program)
            done = subprocess.run([sys.executable, "-B", "tells.py"], cwd=HERE, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            self.assertEqual(done.stderr, f"psb: denied: read unlisted.txt (walls.py:{line})\npsb: hint: {hint}\n")

    def test_rules_of_the_call_grant_and_hide(self):
        inside = HERE + "/data/in.csv"
        with sandboxes(policy=POLICY, files={"data/": "read"}):
            self.assertEqual(boxed["read"](inside), "data/in.csv")
            self.assertEqual(boxed["names"](HERE + "/data"), ["in.csv"])
            e = self.refused(boxed["write"], inside, "x")
            self.assertEqual(sandbox_denials(e), ["write data/in.csv"])
        self.assertEqual(plain["read"](inside), "data/in.csv")
        with sandboxes(policy=POLICY, files={"data/": "read", "data/in.csv": "hide"}):
            self.refused(boxed["read"], inside)
        with sandboxes(policy=POLICY, files={"out/": ["create", "write"]}):
            self.assertEqual(boxed["write"](HERE + "/out/new", "abc"), 3)
        self.assertEqual(plain["read"](HERE + "/out/new"), "abc")

    def test_variables_reach_a_box_by_name_only(self):
        os.environ["TOLD"], os.environ["UNTOLD"] = "1", "2"
        with sandboxes(policy=POLICY, env={"TOLD": True, "SET": "here"}, envs={"MORE": "m"}):
            self.assertEqual([boxed["variable"](n) for n in ("TOLD", "UNTOLD", "SET", "MORE")], ["1", None, "here", "m"])
        self.assertNotIn("SET", os.environ)
        self.assertEqual(plain["variable"]("UNTOLD"), "2")

    def test_a_box_has_its_channel_and_marks_and_no_descriptor_of_its_caller(self):
        r, w = os.pipe()
        os.set_inheritable(w, True)
        with sandboxes(policy=POLICY):
            self.assertEqual(boxed["descriptors"](), [0, 1, 2, 3, 4])
            self.assertEqual(boxed["leads"](3)[:8] + boxed["leads"](4), "socket:[/memfd:psb-begun (deleted)")
            self.assertNotIn(str(os.getpid()), boxed["processes"]())
            self.assertLess(len(boxed["processes"]()), 4)
        os.close(r)
        os.close(w)

    def test_a_box_has_no_network_of_its_caller(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            with sandboxes(policy=POLICY):
                self.refused(boxed["reach"], port)
            import threading

            def serve():
                c, _ = server.accept()
                c.sendall(b"hello")
                c.close()

            t = threading.Thread(target=serve)
            t.start()
            self.assertEqual(plain["reach"](port), b"hello")  # the control
            t.join()

    def test_a_policy_is_looked_up_beside_the_module_and_counts_once_approved(self):
        program = "from psb import sandbox, sandboxes\n\n@sandbox\ndef f():\n    return open(__file__.replace('main.py', 'beside.txt')).read()\n\n"
        program += "if __name__ == '__main__':\n    with sandboxes():\n        print(f())\n"
        os.makedirs(HERE + "/other", exist_ok=True)
        plain["write"](HERE + "/other/main.py", program)
        plain["write"](HERE + "/other/beside.txt", "beside")
        run = lambda: subprocess.run([sys.executable, "-B", HERE + "/other/main.py"], cwd=HERE, capture_output=True, text=True)  # noqa: E731
        os.rename(POLICY, POLICY + ".away")
        try:
            done = run()
        finally:
            os.rename(POLICY + ".away", POLICY)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no policy for " + HERE + "/other/main.py: there is no .py-sandboxes beside it", done.stderr)
        self.assertIn("sandboxes(learn=True)", done.stderr)
        plain["write"](HERE + "/other/.py-sandboxes", 'version = 1\n\n[files]\n"beside.txt" = "read"\n[python.import]\n"*" = true\n[python.call]\n"*" = true\n')
        done = run()
        self.assertIn("is not approved", done.stderr)
        subprocess.run([os.environ["PSB"], "policy", "approve", "--policy", "other/.py-sandboxes"], cwd=HERE, check=True, capture_output=True)
        done = run()
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("beside\n", "", 0))

    def test_the_main_module_of_a_package_keeps_its_relative_imports(self):
        os.makedirs(HERE + "/pkg", exist_ok=True)
        plain["write"](HERE + "/pkg/__init__.py", "")
        plain["write"](HERE + "/pkg/other.py", "NAME = 'other'\n")
        main = "from psb import sandbox, sandboxes\nfrom .other import NAME\n\n@sandbox\ndef f():\n    return NAME, __name__, __package__\n\n"
        main += "if __name__ == '__main__':\n    with sandboxes(policy='.py-sandboxes', files={'pkg/': 'read'}):\n        print(f())\n"
        plain["write"](HERE + "/pkg/main.py", main)
        done = subprocess.run([sys.executable, "-B", "-W", "error", "-m", "pkg.main"], cwd=HERE, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("('other', '__mp_main__', 'pkg')\n", "", 0))

    def test_functions_of_a_prompt_are_refused_by_name(self):
        code = "from psb import sandbox, sandboxes\n@sandbox\ndef f(): pass\nwith sandboxes(policy='.py-sandboxes'): f()\n"
        done = subprocess.run([sys.executable, "-c", code], cwd=HERE, capture_output=True, text=True)
        self.assertIn("psb: f was typed at a prompt or in a cell: a box finds functions in files alone", done.stderr)

    def test_a_locked_policy_takes_no_rights_from_a_call(self):
        locked = HERE + "/locked.py-sandboxes"
        plain["write"](locked, 'version = 1\nlocked = true\n\n[files]\n"tools.py" = "read"\n[python.import]\n"*" = true\n[python.call]\n"*" = true\n')
        with sandboxes(policy=locked):
            self.refused(boxed["read"], HERE + "/unlisted.txt")
        for more in (dict(files={"data/": "read"}), dict(env={"HOME": True}), dict(envs={"A": "b"}), dict(learn=True)):
            with self.assertRaisesRegex(SandBoxError, "locked"):
                with sandboxes(policy=locked, **more):
                    self.fail("never here")

    def test_a_snippet_has_the_walls_of_an_empty_policy(self):
        self.assertFalse(is_in_sandbox())
        os.makedirs(HERE + "/empty", exist_ok=True)
        here = os.getcwd()
        os.chdir(HERE + "/empty")
        try:
            done = execute(f"open({HERE + '/unlisted.txt'!r})")
        finally:
            os.chdir(here)
        self.assertEqual((done.status, done.reason, done.denials), (1, "exit", ["read " + HERE + "/unlisted.txt"]))
        self.assertIn("FileNotFoundError", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
