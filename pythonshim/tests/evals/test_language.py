"""Legitimate text gives what plain Python gives."""

import math
import os
import random
import sys
import unittest
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import HAS, at_site, inside, plain, rules  # noqa: E402
from psb.errors import EvalInterrupted, RuleEvalPermissionError, SandBoxBaseExceptionError  # noqa: E402

NAMES = {"a": 3, "b": 2.5, "xs": [5, 1, 4], "d": {"k": [1, 2]}, "s": "abc", "t": (1, "x"), "n": None}

EXPRESSIONS = """
1 + 2 * a
a ** 2 - b / 2 + a // 2 % 5
-a + +b
~a & 7 | 8 ^ 3
1 << 4 >> 2
a < b < 5 or not n
a if b > 2 else s
[x * x for x in xs if x > 1]
{x: x + a for x in xs}
{x % 2 for x in xs}
sorted(x + y for x in xs for y in xs if x < y)
sum(x for x in range(10))
sum(range(5), 10)
sum([[1], [2]], [])
max(xs) + min(3, 4)
max(xs, key=lambda v: -v)
sorted(xs, key=lambda v: v % 4, reverse=True)
list(map(lambda v: v + 1, xs))
list(map(str, xs))
list(filter(None, [0, 1, 2]))
list(zip(xs, 'abc'))
dict(zip('ab', xs), z=1)
list(enumerate(xs, 1))
list(reversed(xs))
any(x > 4 for x in xs), all(xs), len(xs)
xs[0], xs[-1], xs[::2], xs[1:], s[1:3], t[0]
d['k'][1]
'a' in s, 4 in xs, 'z' not in d, a in (1, 2), 1 in {1: 2}
1.5 in range(3), 2 in range(10 ** 12)
f'{a:>5}|{b:.2f}|{s!r:>8}|{xs}|{a=}'
f'{a:{a + 2}}'
'{:>5}|{:.2f}'.format(a, b)
'{0}-{1}-{0}'.format(a, b)
'{x[k]}-{y}'.format(x=d, y=1)
'{x}'.format_map({'x': 1})
'{0.real}'.format(a)
'{{}} {!r}'.format(s)
'%s-%05d-%.2f-%%' % (s, a, b)
'%(k)s' % d
b'%d' % 3
'%*d' % (5, 3)
s.upper() + s.replace('a', 'bb') + s.zfill(5) + s.center(7) + s.ljust(4) + s.rjust(4)
s.join(['x', 'y']), ','.join(x for x in 'abc'), 'a,b,c'.split(','), ' x '.strip()
'a\\tb'.expandtabs(4), 'ab'.translate({97: 'x'}), 'abc'.encode(), b'abc'.decode(), 'a\\nb'.splitlines()
str.upper('x'), str.join('-', 'ab'), 'abc'.startswith('a'), 'abc'.find('c'), 'aXb'.swapcase()
str(a), repr(s), ascii('é'), str(xs), str(b'x', 'ascii'), int('12'), int('ff', 16), float('2.5'), bool(xs), complex(1, 2)
bin(5), hex(255), oct(8), chr(97), ord('a'), abs(-3), round(2.567, 1), round(2.5), divmod(7, 2), pow(2, 5), pow(2, 5, 7), hash(1) == 1
bytes(3), bytes([1, 2]), bytes('x', 'ascii'), bytearray(2), bytes.fromhex('00ff'), (5).to_bytes(2, 'big')
list('abc'), tuple(xs), set(xs), frozenset(xs), dict(d), dict([('a', 1)]), list(range(3)), list(d)
isinstance(a, int), isinstance(a, (int, str)), isinstance(int, type), issubclass(bool, int), callable(len)
type(a) is int, type(a) == type(3), type(s) is str
(lambda x, y=2, *z, **k: (x, y, z, k))(1, 2, 3, k=4)
(lambda: (yield))() is not None
[*xs, *t], {**d, 'z': 1}, (*xs,)
(y := 5) + y
[(x, y) for x in range(3) for y in range(x)]
[[y for y in range(x)] for x in range(3)]
(lambda f: f(f, 5))(lambda f, n: 1 if n == 0 else n * f(f, n - 1))
getattr(s, 'upper')(), getattr(a, 'nope', 7), hasattr(s, 'upper'), hasattr(s, 'nope')
next(iter(xs)), list(iter(xs)), next(iter([]), 9)
[1, 2] + [3], (1,) * 3, 'ab' * 2, 2 * [0], [1] * 0, 'a' + 'b', 3 * b'x'
{1, 2} | {3}, {1, 2} & {2}, {1, 2} - {2}, {1} ^ {2}, {1: 2}.get(3, 4), d.get('k'), list(d.items())
xs.index(4), xs.count(1), xs.copy(), t.index('x'), {1, 2}.union([3], {4}), {1}.issubset([1, 2]), dict.fromkeys('ab', 0)
eval('a + 1'), eval('q * 2', {'q': 4})
1 < 2 < 3, 1 == 1.0, a is not None, s is not n
None, True, ..., 1j, 0x10, 1_000, b'x', 'é'
""".strip().split(
    "\n"
)

STATEMENTS = {
    "assign": "x = y = 1\n(p, q), *r = (1, 2), 3, 4\nz: int = 5\nw: 'str'\n",
    "augmented": "x = 1\nx += 2\nx *= 3\nx -= 1\nx //= 2\nx **= 2\nx %= 7\nx <<= 2\nx >>= 1\nx |= 8\nx &= 12\nx ^= 5\nf = 1.0\nf /= 4\n",
    "augmented list": "a = b = [1]\na += (2,)\na *= 2\nsame = a is b\n",
    "augmented set": "s = t = {1}\ns |= {2}\nsame = s is t\ns -= {1}\ns ^= {5}\ns &= {2, 5}\n",
    "augmented item": "log = []\ndef k(): log.append(1); return 'k'\nd = {'k': 1}\nd[k()] += 5\nd[k()] *= 2\nl = [1, 2]\nl[0] += 1\nl[0:1] = [7, 8]\nl[1:1] += [9]\n",
    "augmented order": "log = []\nd = {0: 1}\ndef v():\n    d[0] = 100\n    return 1\nd[0] += v()\n",
    "delete": "d = {1: 2, 3: 4}\ndel d[1]\nx = 1\ndel x\nl = [1, 2, 3]\ndel l[0], l[0:1]\n",
    "loops": "out = []\nfor i in range(5):\n    if i == 1: continue\n    if i == 4: break\n    out.append(i)\nelse:\n    out.append('no')\nwhile out:\n    out.pop()\nelse:\n    e = 'yes'\nfor i, (j, k) in enumerate([(1, 2)]): z = i + j + k\n",
    "functions": "def f(a, b=2, *c, d=4, **e):\n    'doc'\n    return a + b + sum(c) + d + len(e)\nx = f(1), f(1, 2, 3, d=5, z=6)\ndef g(n):\n    return 1 if n < 2 else n * g(n - 1)\ny = g(5)\ndef h():\n    global z\n    z = 9\nh()\ndef i():\n    n = 0\n    def j():\n        nonlocal n\n        n += 1\n        return n\n    j()\n    return j()\nk = i()\ndel f, g, h, i\n",
    "closures": "fs = [lambda i=i: i for i in range(3)]\nx = [f() for f in fs]\ndef outer(v):\n    def inner(w): return v + w\n    return inner\ny = outer(1)(2)\ndel fs, outer\nf = None\n",
    "generators": "def g():\n    try:\n        x = yield 1\n        yield x\n        yield from [3, 4]\n    finally:\n        log.append('end')\nlog = []\nl = list(g())\ni = g()\nn = next(i)\ns = i.send(7)\ni.close()\ndef c(n):\n    if n:\n        yield n\n        yield from c(n - 1)\nm = list(c(5))\ndel g, i, c\n",
    "many generators": "def g(n):\n    yield n\n    yield n + 1\ngs = [g(i) for i in range(50)]\na = [next(x) for x in gs]\nb = [next(x) for x in gs]\ndel g, gs\n",
    "exceptions": "log = []\ndef f(x):\n    try:\n        if x == 0: return 1 // x\n        if x == 1: raise ValueError('v')\n        if x == 2: {}['k']\n    except ZeroDivisionError:\n        log.append('z')\n    except (ValueError, KeyError) as e:\n        log.append(str(e))\n    else:\n        log.append('else')\n    finally:\n        log.append('fin')\n    return 'end'\nx = [f(i) for i in range(4)]\ntry:\n    try:\n        1 / 0\n    except ZeroDivisionError as e:\n        raise ValueError('w') from e\nexcept ValueError as e:\n    y = str(e)\nassert y\ndel f\n",
    "classes": "class A:\n    k = 1\n    l = [k, 2]\n    def f(self): return self.k\n    @staticmethod\n    def s(): return 5\n    @classmethod\n    def c(cls): return cls.k\n    @property\n    def p(self): return 6\nclass B(A):\n    def f(self): return super().f() + 1\nx = A().f(), B().f(), A.s(), B.c(), A().p\nclass E(Exception): pass\ntry:\n    raise E('e')\nexcept E as e:\n    y = str(e)\ndel A, B, E\n",
    "decorators": "def twice(f):\n    def g(*a): return f(*a) * 2\n    return g\n@twice\ndef h(x): return x + 1\ny = h(3)\ndel twice, h\n",
    "imports": "import math\nimport collections.abc\nfrom math import floor as fl, pi\nimport json as j\nx = math.sqrt(16) + fl(2.7)\ny = j.loads(j.dumps({'a': [1, 2]}))\nfrom collections import Counter, defaultdict, namedtuple\nc = dict(Counter('aab'))\nd = defaultdict(list)\nd['x'].append(1)\ne = dict(d)\nP = namedtuple('P', 'x y')\np = P(1, 2).x\nimport datetime\nw = datetime.date(2020, 1, 2).isoformat()\nfrom decimal import Decimal\nz = str(Decimal('1.10') + 1)\nimport re\nm = re.sub('a+', 'b', 'caat')\ndel math, collections, fl, j, Counter, defaultdict, namedtuple, P, datetime, Decimal, re, d\n",
    "operator and functools": "import operator, functools, itertools\nx = functools.reduce(operator.add, [1, 2, 3])\ny = operator.attrgetter('real')(5), operator.itemgetter(1)([1, 2]), operator.methodcaller('upper')('a')\nz = list(itertools.islice(itertools.count(3), 2)), list(itertools.product('ab', repeat=2)), list(itertools.chain([1], [2]))\np = functools.partial(int, base=2)('101')\n@functools.lru_cache(None)\ndef f(n): return n if n < 2 else f(n - 1) + f(n - 2)\nv = f(10)\ndel operator, functools, itertools, f\n",
    "dataclasses": "import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\n    y: int = 2\nq = P(1)\nv = q.x + q.y, dataclasses.asdict(q)\ndel dataclasses, P, q\n",
    "enum": "from enum import Enum\nclass C(Enum):\n    A = 1\n    B = 2\nx = C.A.value, C(2).name, [c.name for c in C]\ndel Enum, C\n",
    "future annotations": "from __future__ import annotations\ndef f(x: int) -> str: return x\ny = f(3)\ndel f\n",
    "comprehension scopes": "x = 10\ny = [x for x in range(3)]\nz = [i + x for i in range(2)]\ndef f(x):\n    return [x + i for i in range(2)], {x for _ in [1]}, list(x for _ in [1])\nw = f(5)\nv = [(k := i) for i in range(3)]\ndel f\n",
    "hidden names": "def f():\n    len = 3\n    return len\nx = f()\ndef g(sum): return sum + 1\ny = g(1)\nmax = 5\nz = max + 1\ndel f, g\n",
}
if HAS >= (3, 10):
    STATEMENTS["match"] = (
        "def f(v):\n    match v:\n        case 0: return 'zero'\n        case [1, *r]: return r\n        case {'k': x, **o}: return x\n        case str(): return 'str'\n"
        "        case int(n) if n > 5: return n\n        case (2 | 3) as y: return y\n        case None: return 'none'\n        case _: return 'else'\n"
        "x = [f(v) for v in (0, [1, 2, 3], {'k': 4, 'z': 5}, 'a', 9, 3, None, 2.5)]\ndel f\n"
    )
if HAS >= (3, 11):
    STATEMENTS[
        "except*"
    ] = "x = []\ntry:\n    raise ExceptionGroup('g', [ValueError(1), KeyError(2)])\nexcept* ValueError as e:\n    x.append('v')\nexcept* KeyError:\n    x.append('k')\n"
MAGIC = {
    "magic": ["__init__", "__name__", "__enter__", "__exit__", "__iter__", "__next__", "__add__", "__len__", "__getitem__", "__repr__", "__eq__"]
}
WITH_MAGIC = {
    "manager": "class M:\n    def __enter__(self): return 3\n    def __exit__(self, *a): return True\nwith M() as x:\n    1 / 0\ndel M\n",
    "iterator": "class I:\n    def __iter__(self): return iter([1, 2])\n    def __len__(self): return 2\n    def __getitem__(self, k): return k\n    def __add__(self, o): return 7\nx = list(I()), len(I()), I()['k'], I() + 1, [v for v in I()]\ndel I\n",
    "name of a type": "x = type(1).__name__\n",
}


def data(space):
    kinds = (int, float, str, bytes, list, tuple, dict, set, bool, type(None), complex)
    return {k: v for k, v in space.items() if not k.startswith("__") and isinstance(v, kinds)}


class Language(unittest.TestCase):
    maxDiff = None

    def test_expressions(self):
        for text in EXPRESSIONS:
            with self.subTest(text):
                fresh = lambda: {k: (list(v) if isinstance(v, list) else v) for k, v in NAMES.items()}  # noqa: E731
                self.assertEqual(repr(inside(text, names=fresh())), repr(plain(text, names=fresh())))
                self.assertEqual(repr(at_site(text, names=fresh())), repr(plain(text, names=fresh())))

    def test_statements(self):
        for name, text in STATEMENTS.items():
            with self.subTest(name):
                self.assertEqual(data(inside(text, "exec")), data(plain(text, "exec")))
                self.assertEqual(data(at_site(text, "exec")), data(plain(text, "exec")))

    def test_statements_with_special_methods(self):
        judged = rules(**MAGIC)
        for name, text in WITH_MAGIC.items():
            with self.subTest(name):
                self.assertEqual(data(inside(text, "exec", judged=judged)), data(plain(text, "exec")))

    def test_errors_are_those_of_python(self):
        for text in (
            "1/0",
            "nope",
            "[][1]",
            "{}['k']",
            "int('x')",
            "'a' + 1",
            "s.nope",
            "(1).x",
            "next(iter([]))",
            "'{x}'.format()",
            "'%d' % 'a'",
            "f()",
        ):
            with self.subTest(text):
                names = {"s": "x", "f": None}
                with self.assertRaises(Exception) as plainly:
                    plain(text, names=dict(names))
                with self.assertRaises(type(plainly.exception)) as guarded:
                    inside(text, names=dict(names), judged=rules(call=["*", "f", "getattr"]))
                self.assertIs(type(guarded.exception), type(plainly.exception))
                self.assertEqual(str(guarded.exception), str(plainly.exception))
        with self.assertRaises(SyntaxError) as caught:
            inside("1 +")
        self.assertIs(type(caught.exception), SyntaxError)
        with self.assertRaises(SandBoxBaseExceptionError) as base:
            inside("raise SystemExit(3)", "exec")
        self.assertEqual(base.exception.name, "SystemExit")

    def test_what_leaves_is_data_or_the_callers(self):
        class Row:
            pass

        row = Row()
        self.assertIs(inside("rows[0]", names={"rows": [row]}), row)
        for text in ("type(1)", "(x for x in [1])", "lambda: 1", "[lambda: 1]", "{'k': (1, [len])}", "print"):
            with self.subTest(text), self.assertRaises(RuleEvalPermissionError):
                inside(text)
        judged = rules(magic=["__repr__", "__eq__", "__hash__"])
        bomb = "class B:\n    def __repr__(self): return 'x'\n    __eq__ = __hash__ = __repr__\nb = B()\nok = 1\n"
        self.assertEqual(inside(bomb, "exec", judged=judged), {"ok": 1})
        with self.assertRaises(RuleEvalPermissionError):
            at_site(bomb, "exec", judged=judged)
        box = []
        inside(bomb + "box.append(b)\nbox.append(1)\n", "exec", {"box": box}, judged)
        self.assertEqual(box, [None, 1])
        loop = inside("l = [1]\nl.append(l)\n", "exec")["l"]
        self.assertIs(loop[1], loop)
        with self.assertRaises(ValueError) as caught:
            inside("class E(ValueError): pass\nraise E('told')", "exec")
        self.assertIs(type(caught.exception), ValueError)
        self.assertEqual(str(caught.exception), "E: told")


class Property(unittest.TestCase):
    """Random expressions: the guarded value is the plain one."""

    def test_guarded_is_plain(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # random text calls numbers
            self.each_seed()

    def each_seed(self):
        for seed in range(800):
            text = _Random(seed).expression(4)
            names = {"a": 3, "b": 0.5, "c": [1, 2, 3], "s": "xyz", "d": {"k": 1}}
            try:
                want = repr(plain(text, names={**names, "c": [1, 2, 3]}))
            except Exception as e:
                want = type(e)
            try:
                got = repr(inside(text, names={**names, "c": [1, 2, 3]}))
            except EvalInterrupted:
                self.fail(f"seed {seed}: {text} was stopped")
            except Exception as e:
                got = type(e)
            self.assertEqual(got, want, f"seed {seed}: {text}")


class _Random:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.depth = 0

    def expression(self, depth):
        if depth <= 0 or self.r.random() < 0.15:
            return self.r.choice(["a", "b", "c", "s", "d", "1", "2", "0", "-3", "1.5", "'q'", "[]", "()", "{}", "True", "None"])
        e = lambda: self.expression(depth - 1)  # noqa: E731
        forms = [
            lambda: f"({e()} {self.r.choice(['+', '-', '*', '/', '//', '%', '&', '|', '^'])} {e()})",
            lambda: f"({e()} {self.r.choice(['<', '==', '!=', '>=', 'in', 'not in'])} {e()})",
            lambda: f"({e()} {self.r.choice(['<', '==', 'in'])} {e()} {self.r.choice(['<', '!=', 'not in'])} {e()})",
            lambda: f"({e()} {self.r.choice(['and', 'or'])} {e()})",
            lambda: f"({e()} if {e()} else {e()})",
            lambda: f"(not {e()})",
            lambda: f"[{e()}, {e()}]",
            lambda: f"({e()}, {e()})",
            lambda: f"{{{e()}: {e()}}}",
            lambda: f"{e()}[{e()}]",
            lambda: f"{e()}[{self.r.choice(['', '0', '1'])}:{self.r.choice(['', '2', '-1'])}]",
            lambda: f"[{e()} for v in {e()} if {e()}]",
            lambda: f"{self.r.choice(['len', 'sum', 'sorted', 'list', 'tuple', 'set', 'str', 'repr', 'bool', 'int', 'max', 'min', 'any', 'all'])}({e()})",
            lambda: f"(lambda v: {e()})({e()})",
            lambda: "f'{" + e().replace("'", '"').replace("{", "(").replace("}", ")").replace(": ", ", ") + "}'",
            lambda: f"({e()}).{self.r.choice(['real', 'upper()', 'copy()', 'count(1)', 'get(1)', 'keys()'])}",
            lambda: f"'%s' % ({e()},)",
            lambda: f"'{{}}'.format({e()})",
            lambda: f"(w := {e()})",
        ]
        return self.r.choice(forms)()


if __name__ == "__main__":
    assert math.pi
    unittest.main()
