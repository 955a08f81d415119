"""A block that learns, then one that enforces what was learned; nothing of the package itself is learned."""

from __future__ import annotations

import os
import unittest

from psb import sandbox, sandbox_denials, sandboxes

HERE = os.path.dirname(os.path.abspath(__file__))
LEARNED = os.path.join(HERE, "learned.py-sandboxes")


@sandbox
def uses(path, name):
    with open(path) as f:
        return f.read(), os.environ.get(name)


class Learning(unittest.TestCase):
    def test_what_a_block_needed_is_learned_and_enforced(self):
        for name in ("needed.txt", "other.txt"):
            with open(os.path.join(HERE, name), "w") as f:
                f.write(name)
        os.environ["NEEDED"] = "yes"
        with sandboxes(learn=LEARNED):
            self.assertEqual(uses("needed.txt", "NEEDED"), ("needed.txt", "yes"))
        with open(LEARNED) as f:
            text = f.read()
        rules = [line.partition("  #")[0] for line in text.splitlines() if line.startswith('"') or " = " in line]
        self.assertEqual(rules, ["version = 1", "NEEDED = true", '"./" = "list"', '"lib/" = "list"', '"needed.txt" = "read"'])
        self.assertIn("Rights of learning.py", text.splitlines()[0])
        with sandboxes(policy=LEARNED):
            self.assertEqual(uses("needed.txt", "NEEDED"), ("needed.txt", "yes"))
            with self.assertRaises(PermissionError) as caught:
                uses("other.txt", "NEEDED")
            self.assertEqual(sandbox_denials(caught.exception), ["read other.txt"])
        with sandboxes(learn=LEARNED):
            uses("needed.txt", "NEEDED")
        with open(LEARNED) as f:
            self.assertEqual(f.read(), text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
