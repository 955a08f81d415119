"""Comparing and hashing what stands in a value in 2**60 places: counted before C begins, since nothing could end it."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import inside, rules  # noqa: E402
from psb.errors import EvalInterrupted  # noqa: E402
from psb.evals.places import places  # noqa: E402

GRANTED = rules(magic=["__eq__", "__hash__", "__contains__"])

GROWN = {
    "list": "a, b = [1], [1]\nfor i in range(60): a, b = [a, a], [b, b]\n",
    "tuple": "a, b = (1,), (1,)\nfor i in range(60): a, b = (a, a), (b, b)\n",
    "dataclass": "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    x: int\n    y: int\n"
    "a, b = P(1, 1), P(1, 1)\nfor i in range(60): a, b = P(a, a), P(b, b)\n",
    "namedtuple": "from collections import namedtuple\nP = namedtuple('P', 'x y')\na, b = P(1, 1), P(1, 1)\nfor i in range(60): a, b = P(a, a), P(b, b)\n",
}

COMPARED = """
a == b
a != b
1 < 2 != a == b
a in [b]
a not in (b,)
[1] != a in [b]
[b].index(a)
[b].count(a)
[b].remove(a)
list.remove([b], a)
list(map([b].remove, [a]))
a in {0: b}.values()
{0: a} == {0: b}
slice(a, a) == slice(b, b)
a.__eq__(b)
[b].__contains__(a)
import operator; operator.eq(a, b)
import operator; operator.countOf([b], a)
import itertools; list(itertools.groupby([a, b]))
import collections; b in collections.deque([a])
import collections; collections.deque([a]).index(b)
""".strip().split(
    "\n"
)

ORDERED = """
a < b
a >= b
sorted([a, b])
sorted([1, 2], key=lambda x: a if x == 1 else b)
[a, b].sort()
max(a, b)
min(x for x in [a, b])
max([1, 2], key=lambda x: a if x == 1 else b)
import bisect; bisect.bisect([b], a)
import heapq; heapq.heapify([a, b, a])
""".strip().split(
    "\n"
)

HASHED = """
hash(a)
a.__hash__()
{a: 1}
{a}
{*[a]}
{a: 1 for i in [1]}
{a for i in [1]}
{}[a]
a in {}
{}.get(a)
{}.setdefault(a, 1)
{}.update([(a, 1)])
dict.get({}, a)
dict([(a, 1)])
dict.fromkeys([a])
set([a])
set().add(a)
set().discard(a)
set().union([a])
list(map({}.get, [a]))
list(map(hash, [a]))
d = {}; d[a] = 1
d = {}; del d[a]
d = {}; x, d[a] = 1, 2
import collections; collections.Counter([a])
""".strip().split(
    "\n"
)

# The same operations where nothing is shared; "t" and "rows" are there.
HONEST = """
[1, [2]] == [1, [2]] and (1, 2) <= t
1 < 2 < 3 <= 3
{t: 3}[t] == 3 and t in {t} and {t: 3}.get(t) == 3
sorted(rows, reverse=True)[0] == (999, '999')
sorted(rows, key=lambda r: r[1])[10] == (107, '107') and sorted([2, 1], key=None) == [1, 2]
max(rows) == (999, '999') and max(rows, key=lambda r: -r[0]) == (0, '0')
len([r for r in rows if r in rows]) == 1000
[[2]].index([2]) == 0 and [(1, 2), t].count(t) == 2
'a' in 'abc' and b'a' in b'abc' and 3 in range(5)
list(map({t: 4}.get, [t, 0])) == [4, None]
hash(t) == t.__hash__()
""".strip().split(
    "\n"
)


class Compared(unittest.TestCase):
    def ended(self, kind, texts):
        for text in texts:
            with self.subTest(kind, text=text):
                with self.assertRaises(EvalInterrupted) as e:
                    inside(GROWN[kind] + text, "exec", judged=GRANTED)
                self.assertEqual(e.exception.reason, "timeout")

    def test_lists(self):
        self.ended("list", COMPARED + ORDERED)

    def test_tuples(self):
        self.ended("tuple", COMPARED + ORDERED + HASHED)

    def test_namedtuples(self):
        self.ended("namedtuple", COMPARED + ORDERED + HASHED)

    def test_dataclasses(self):
        self.ended("dataclass", COMPARED + HASHED)

    def test_what_is_small_is_as_it_was(self):
        for text in HONEST:
            with self.subTest(text):
                given = {"t": (1, 2), "rows": [(i, str(i)) for i in range(1000)]}
                self.assertIs(inside(text, "eval", given, GRANTED), True)

    def test_places(self):
        a = [1, "x"]
        self.assertEqual(places(3), 1)
        self.assertEqual(places(a), 3)
        self.assertEqual(places([a, a]), 2 * 3 + 3)
        a.append(a)
        self.assertEqual(places(a), 5)  # a cycle, which Python itself ends, counts once


if __name__ == "__main__":
    unittest.main()
