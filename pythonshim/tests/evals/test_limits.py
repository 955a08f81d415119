"""Limits, counted before what they bound happens. Every text here would harm a machine without the guard, so none has a control that runs."""

import os
import resource
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import HAS, at_site, inside, plain, rules  # noqa: E402
from psb.errors import EvalInterrupted, EvalSyntaxRejected  # noqa: E402
from psb.evals.sites import evaluate  # noqa: E402

BYTES = """
9**9**9
1 << 10**12
(1 << 1000000) << 100000000
'a' * 10**12
10**12 * 'a'
[0] * 10**11
(0,) * 10**11
b'x' * 10**12
[[0] * 1000] * 10**9
bytes(10**12)
bytearray(10**12)
'x'.zfill(10**12)
'x'.ljust(10**12)
'x'.rjust(10**12)
'x'.center(10**12)
('\\t' * 1000).expandtabs(10**12)
str.zfill('x', 10**12)
b'x'.zfill(10**12)
''.join(['x' * 10**6] * 10**6)
','.join('x' * 10**5 for _ in range(10**6))
('a' * 10**5).replace('a', 'b' * 10**6)
('a' * 10**5).translate({97: 'b' * 10**6})
'{:1000000000000}'.format(1)
'{:.1000000000000f}'.format(1.0)
'{:{}}'.format(1, 10**12)
f'{1:1000000000000}'
f'{1:{10**12}}'
f'{1.0:.1000000000000f}'
format(1, '1000000000000')
'%1000000000000d' % 1
'%*d' % (10**12, 1)
'%.*f' % (10**12, 1.0)
'%.1000000000000f' % 1.0
b'%1000000000000d' % 1
(5).to_bytes(10**12, 'big')
'a b' * 10**6 + ''.join(('a b' * 10**6).split())
list(range(3000000))
[x for x in range(10**7)]
set(range(10**7))
{x: x for x in range(10**7)}
bin(1 << 10**8)
pow(9, 9**9)
pow(2, 10**12)
getattr(10, 'to_' + 'bytes')(10**12, 'big')
list(map(bytes, [10**12]))
sorted([10**12], key=bytes)
type(b'')(10**12)
[bytes][0](10**12)
""".strip().split(
    "\n"
)

ENDLESS = """
sum(range(10**12))
max(range(10**12))
min(range(10**12))
sorted(range(10**12))
any(iter(int, 1))
all(iter(lambda: 1, 0))
list(iter(int, 1))
tuple(iter(int, 1))
set(iter(int, 1))
dict(iter(int, 1))
10**6 in iter(int, 1)
1.5 in range(10**12)
0 < 1.5 in range(10**12)
[*iter(int, 1)]
max(0 for _ in iter(int, 1))
list(zip(iter(int, 1), iter(int, 1)))
list(enumerate(iter(int, 1)))
list(map(lambda x: x, iter(int, 1)))
list(filter(lambda x: x, iter(int, 1)))
''.join(iter(str, 'x'))
[].extend(iter(int, 1))
set().union(iter(int, 1))
{}.update(iter(int, 1))
dict.fromkeys(iter(int, 1))
bytes(iter(int, 1))
(lambda f: f(f))(lambda f: f(f))
str(1 << 3999999)
(1 << 3900000) // (1 << 1900000 | 1)
pow(3, 1 << 3000000, (1 << 3000000) + 1)
[x for x in range(10**4) for y in range(10**4)]
""".strip().split(
    "\n"
)

TEXTS = {
    "squares": "x = 3\nwhile True:\n    x = x * x\n",
    "squares in place": "x = 3\nwhile True:\n    x *= x\n",
    "doubling a text": "x = 'a'\nwhile True:\n    x = x + x\n",
    "doubling in place": "x = 'a'\nwhile True:\n    x += x\n",
    "doubling a list in place": "x = [1]\nwhile True:\n    x += x\n",
    "doubling by a slice": "x = [1]\nwhile True:\n    x[0:0] = x\n",
    "doubling by extend": "x = [1]\nwhile True:\n    x.extend(x)\n",
    "doubling by formats": "x = 'a'\nwhile True:\n    x = f'{x}{x}'\n",
    "doubling by percent": "x = 'a'\nwhile True:\n    x = '%s%s' % (x, x)\n",
    "doubling by display": "x = [1]\nwhile True:\n    x = [*x, *x]\n",
    "doubling a dict": "d = {}\nn = 0\nwhile True:\n    d[n] = d[n + 1] = n\n    n += 2\n",
    "appends": "x = []\nwhile True:\n    x.append(0)\n",
    "many of middle size": "x = []\nfor i in range(1000):\n    x.append([0] * 100000)\n",
    "many displays": "x = []\nfor i in range(10**6):\n    x.append([i, i, i, i, i, i, i, i, i, i])\n",
    "copies": "x = [0] * 10000\ny = []\nwhile True:\n    y.append(x[:])\n",
    "one place many times": "x = [0]\nfor i in range(60):\n    x = [x, x]\ny = str(x)\n",
    "one place many times, formatted": "x = [0]\nfor i in range(60):\n    x = [x, x]\ny = f'{x}'\n",
    "one place many times, json": "import json\nx = [0]\nfor i in range(60):\n    x = [x, x]\ny = json.dumps(x)\n",
    "recursion": "def f(): return f()\nf()\n",
    "recursion caught": "def f():\n    try:\n        return f()\n    except BaseException:\n        return f()\nf()\n",
    "recursion of generators": "def g(): yield from g()\nlist(g())\n",
    "endless loop caught": "while True:\n    try:\n        while True: pass\n    except BaseException: pass\n    finally:\n        for _ in iter(int, 1): pass\n",
    "endless generator": "def g():\n    while True:\n        try:\n            yield 1\n        except BaseException: pass\nfor x in g(): pass\n",
    "itertools": "import itertools\nfor x in itertools.count(): pass\n",
    "itertools in C": "import itertools, collections\nx = collections.deque(itertools.count())\n",
    "itertools repeated": "import itertools\nx = list(itertools.product([1, 2], repeat=10**12))\n",
    "itertools by chain": "import itertools\nx = sum(itertools.chain.from_iterable(itertools.repeat([1])))\n",
    "a range in C": "import collections\nx = collections.deque(range(10**12))\n",
    "factorial": "import math\nx = math.factorial(10**9)\n",
    "combinations": "import math\nx = math.comb(10**9, 10**8)\n",
    "product": "import math\nx = math.prod(range(1, 10**9))\n",
    "reduce": "import functools\nx = functools.reduce(lambda a, b: a * b, range(1, 10**9))\n",
    "operator": "import operator\nx = operator.pow(9, 9**9)\n",
    "operator repeats": "import operator\nx = operator.mul('a', 10**12)\n",
    "partial": "import functools\nx = functools.partial(bytes, 10**12)()\n",
    "starmap": "import itertools\nx = list(itertools.starmap(bytes, [(10**12,)]))\n",
    "special method": "class A:\n    def f(self): return 'x' * 10**12\nA().f()\n",
    "decimal": "import decimal\nx = format(decimal.Decimal('1e9999999'), 'f')\n",
    "whole of a decimal": "import decimal\nx = int(decimal.Decimal('1e9999999'))\n",
}

DEEP = {
    "brackets": "(" * 5000 + ")" * 5000,
    "a chain": "1-" * 250000 + "1",
    "signs": "-" * 1000000 + "1",
    "lists": "[" * 100 + "]" * 100,
    "attributes": "x" + ".a" * 200000,
    "calls": "f(" * 90 + ")" * 90,
    "lambdas": "lambda: " * 3000 + "0",
    "conditions": "a" + " if a else a" * 50000,
    "braces in a text": "f'" + "{" * 2001 + "'",
    "not": "not " * 3000 + "1",
    "powers": "1" + "**1" * 3000,
    "hidden by a formatted text": "f'{1}' + \"'\" + " + "-" * 100000 + '1 + "\'"',
    "hidden by a comment": "1 # '\n" + "-" * 100000 + "1",
    "hidden by brackets in a text": "( 1 + f')' \n" + ("- 1" * 2000 + "\n") * 50 + ")",
    "form feeds": "1" + "-\x0c1" * 50000,
    "thousands of unary signs": "-" * 2000 + "1",
    "deep expression": "1" + "+1" * 200,
    "many nodes": "[" + "1," * 20000 + "]",
}


class Limits(unittest.TestCase):
    def stopped(self, text, mode, reasons, **k):
        with self.assertRaises(EvalInterrupted) as caught:
            inside(text, mode, **k)
        self.assertIn(caught.exception.reason, reasons)
        self.assertEqual(inside("1+1"), 2)

    def test_bytes(self):
        for text in BYTES:
            with self.subTest(text):
                self.stopped(text, "eval", ("max_alloc", "max_iterations"))

    def test_turns(self):
        for text in ENDLESS:
            with self.subTest(text):
                judged = rules(max_iterations=50000, max_alloc="2M")
                self.stopped(text, "eval", ("max_iterations", "max_call_depth", "timeout", "max_alloc"), judged=judged)

    def test_texts(self):
        for name, text in TEXTS.items():
            with self.subTest(name):
                self.stopped(
                    text, "exec", ("max_alloc", "max_iterations", "max_call_depth", "timeout"), judged=rules(max_iterations=50000, max_alloc="2M")
                )

    def test_memory_stays_below(self):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for text in BYTES:
            with self.assertRaises(EvalInterrupted):
                inside(text)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 64 << 10)

    def test_parser_is_not_reached(self):
        for name, text in DEEP.items():
            for mode in ("eval", "exec"):
                with self.subTest(name), self.assertRaises(SyntaxError):
                    inside(text, mode, judged=rules(max_depth=20))
                if name not in ("lists", "calls", "deep expression"):
                    with self.subTest(name), self.assertRaises(SyntaxError):
                        inside(text, mode, judged=rules(max_depth=10**6, max_nodes=10**4))

    def test_long_text_that_is_flat_is_read(self):
        flat = "[" + ", ".join("1.5" for _ in range(3000)) + "]"
        self.assertEqual(len(inside(flat, judged=rules(max_nodes=10**5))), 3000)
        lines = "\n".join(f"x{i} = ({i} + 1) * 2  # ' \" {{" for i in range(2000))
        self.assertEqual(inside(lines, "exec", judged=rules(max_nodes=10**6))["x1999"], 4000)
        texts = "\n".join(f"y{i} = f'{{1 + {i}}}' + \"it's\"" for i in range(500))
        self.assertEqual(inside(texts, "exec", judged=rules(max_nodes=10**6))["y3"], "4it's")

    def test_depth_is_that_of_the_text(self):
        judged = rules(max_call_depth=5)
        text = "def f(n): return 0 if n == 0 else 1 + f(n - 1)\nx = f({})\n"
        self.assertEqual(inside(text.format(4), "exec", judged=judged)["x"], 4)
        self.stopped(text.format(5), "exec", ("max_call_depth",), judged=judged)
        # A call that failed and was caught leaves no depth behind.
        again = "def f(): return 1 // 0\ng = lambda: 1 // 0\nfor i in range(50):\n    for h in (f, g):\n        try: h()\n        except ZeroDivisionError: pass\nx = 1\n"
        self.assertEqual(inside(again, "exec", judged=judged)["x"], 1)

    def test_budgets_of_two_evaluations_are_apart(self):
        judged = rules(max_iterations=1000)
        for _ in range(5):
            self.assertEqual(inside("sum(x for x in range(900))", judged=judged), 404550)

    def test_a_function_that_stays_is_bounded_for_each_call(self):
        space = {}
        judged = rules(max_iterations=1000)
        evaluate(
            "exec", "def f(n):\n    t = 0\n    for i in range(n): t += i\n    return t\ng = lambda n: sum(x for x in range(n))\n", space, None, judged
        )
        for _ in range(5):
            self.assertEqual((space["f"](900), space["g"](900)), (404550, 404550))
        for name in "fg":
            with self.assertRaises(EvalInterrupted):
                space[name](2000)
            self.assertEqual(space[name](10), 45)
        # In another evaluation it counts there.
        with self.assertRaises(EvalInterrupted):
            evaluate("eval", "[f(500) for _ in range(5)]", space, None, judged)
        self.assertEqual(evaluate("eval", "f(500)", space, None, judged), 124750)

    def test_at_a_call_site_too(self):
        for text in ("9**9**9", "sum(range(10**12))", "'a' * 10**12"):
            with self.assertRaises(EvalInterrupted):
                at_site(text)

    def test_small_things_are_not_stopped(self):
        for text in (
            "2**1000",
            "'a' * 1000",
            "sum(range(10000))",
            "'{:>100}'.format(1)",
            "[0] * 10000",
            "1 << 5000",
            "pow(3, 1000, 17)",
            "12345**50 // 7",
        ):
            self.assertEqual(inside(text), plain(text))


if __name__ == "__main__":
    assert HAS and EvalSyntaxRejected
    unittest.main()
