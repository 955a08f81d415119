"""Subtler ways than test_attacks': callables that come from the caller's data, objects that lie about their size, what C goes through unasked."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import HAS, at_site, inside, rules  # noqa: E402
from psb.errors import EvalInterrupted, EvalSyntaxRejected, RuleEvalPermissionError  # noqa: E402

S, R, I = EvalSyntaxRejected, RuleEvalPermissionError, EvalInterrupted  # noqa: E741
CALLED = []


def secret(*a, **k):
    CALLED.append(a)
    return 0


class Row:
    secret = staticmethod(secret)


MAGIC = [
    *[
        "__init__",
        "__enter__",
        "__exit__",
        "__call__",
        "__new__",
        "__iter__",
        "__next__",
        "__getitem__",
        "__eq__",
        "__hash__",
        "__repr__",
        "__str__",
        "__format__",
    ],
    *[
        "__index__",
        "__len__",
        "__class__",
        "__name__",
        "__mro__",
        "__bases__",
        "__dict__",
        "__add__",
        "__iadd__",
        "__mul__",
        "__lt__",
        "__contains__",
        "__bool__",
    ],
    *["__class_getitem__", "__init_subclass__", "__pow__", "__mod__", "__module__", "__context__", "__cause__"],
]

# The caller's data holds functions and a module: no way through C or the library calls them, none reads the module.
UNGRANTED = """
fs[0](1)
fs[1](1)
fs.copy().pop()(1)
{'k': fs[0]}.get('k')(1)
next(iter(fs))(1)
(lambda f: f(1))(fs[0])
max(fs, key=lambda f: 1)(1)
[f(1) for f in fs]
list(map(fs[0], [1]))
list(filter(fs[1], [1]))
sorted([1], key=fs[0])
max([1, 2], key=fs[0])
[1, 2].sort(key=fs[0])
next(iter(fs[0], 0))
row.secret(1)
(lambda h=fs[0]: h(1))()
print(*map(fs[0], [1]))
[*fs][0](1)
(f := fs[0])(1)
{**{'k': fs[0]}}['k'](1)
ms[0].system('true')
[m.system for m in ms]
[m for m in ms][0]
vars(ms[0])
list(map(vars, ms))
'{0[0].path}'.format(ms)
'{x[0].path}'.format_map({'x': ms})
list(map(dir, [1])) and [m.getpid() for m in ms]
""".strip().split(
    "\n"
)

UNGRANTED_TEXTS = [
    "exec('map = fs[0]')\nmap(1)",
    "exec('map(1)', {'map': fs[0]})",
    "eval('map(1)', {'map': fs[1]})",
    "eval('map(1)', None, {'map': fs[1]})",
    "eval('(lambda: map(1))()', {'map': fs[1]})",
    "global map\nmap = fs[0]\nmap(1)",
    "def f():\n    global map\n    map = fs[1]\nf()\nmap(1)",
    "f, h = fs\nf(1)",
    "for f in fs: f(1)",
    "f = fs[0]\nf(1)",
    "h = fs[0]\n@h\ndef g(): pass",
    "h = fs[1]\n@h\nclass A: pass",
    "class A:\n    g = fs[0]\nA.g(1)",
    "class A:\n    g = fs[1]\nA().g(1)",
    "class A:\n    g = staticmethod(fs[0])\nA().g(1)",
    "class A:\n    g = property(fs[1])\nA().g",
    "import functools\nfunctools.partial(fs[0], 1)()",
    "import functools\nfunctools.reduce(fs[0], [1, 2])",
    "import functools\nsorted([1, 2], key=functools.cmp_to_key(fs[1]))",
    "import functools\nfunctools.lru_cache(fs[1])(1)",
    "import itertools\nlist(itertools.starmap(fs[0], [(1,)]))",
    "import itertools\nlist(itertools.accumulate([1, 2], fs[1]))",
    "import operator\noperator.methodcaller('secret', 1)(row)",
    "import operator\noperator.itemgetter(0)(fs)(1)",
    "import operator\noperator.attrgetter('secret')(row)(1)",
    "import re\nre.sub('a', fs[0], 'a')",
    "import collections\ncollections.defaultdict(fs[1])['x']",
    "import collections\ncollections.namedtuple('P', 'a')(fs[0]).a(1)",
    "import json\njson.loads('{}', object_hook=fs[0])",
    "import json\njson.dumps({'k': row}, default=fs[0])",
    "import random\nrandom.choice(fs)(1)",
    "import copy\ncopy.copy(fs)[0](1)",
    "import heapq\nheapq.nlargest(1, [1], key=fs[0])",
    "import types\ntypes.SimpleNamespace(g=fs[1]).g(1)",
    "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int = dataclasses.field(default_factory=fs[1])\nA()",
    "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int\nA(fs[1]).x(1)",
    "async def f(): return fs[0](1)\nc = f()\nc.send(None)",
    "def g():\n    yield fs[0]\n[f] = g()\nf(1)",
    "import operator\noperator.attrgetter('system')(ms[0])",
    "for m in ms:\n    m.getpid()",
]

WITH_MAGIC = [
    ("class A:\n    __add__ = fs[0]", R),
    ("class A:\n    __call__ = fs[1]", R),
    ("class A:\n    __getitem__ = bytes", R),
    ("class A:\n    __call__ = bytes", R),
    ("class A:\n    def __getitem__(self, k): return fs[0]\nA()[1](1)", R),
    ("class A:\n    def __new__(cls): return fs[0]\nA()(1)", R),
    ("class A:\n    def __contains__(self, x): return fs[0](1)\n1 in A()", R),
    ("class A:\n    def __format__(self, s): return 'x' * 10**12\nf'{A()}'", I),
    ("class A:\n    def __repr__(self):\n        while True: pass\nrepr(A())", I),
    ("class A:\n    def __repr__(self): return 'x' * 10000\na = A()\nx = [a]\nfor i in range(40): x = [x, x]\nstr(x)", I),
    ("class A:\n    def __index__(self): return 10**12\n'x'.zfill(A())", I),
    ("class A:\n    def __index__(self): return 10**12\n(5).to_bytes(A(), 'big')", I),
    ("class A:\n    def __index__(self): return 10**12\n[0] * A()", I),
    ("class A:\n    def __index__(self): return 10**12\nbytes(A())", I),
    ("class A:\n    def __index__(self): return 10**12\nlist(range(A()))", I),
    (
        "class A:\n    n = [0]\n    def __index__(self):\n        self.n[0] += 1\n        return 0 if self.n[0] == 1 else 10**9\nassert 'x' * A() == ''\nassert False",
        AssertionError,
    ),
    ("class A:\n    def __len__(self): return 10**12\n    def __getitem__(self, i): return 0\nlist(A())", I),
    ("class A:\n    def __iter__(self): return self\n    def __next__(self): return 0\na, *b = A()", I),
    ("class A:\n    def __iter__(self): return self\n    def __next__(self): return 0\nlist(A())", I),
    ("class A:\n    def __del__(self): pass", S),
    ("class A:\n    def __sizeof__(self): return 0", S),
    ("class A:\n    def __getattribute__(self, n): pass", S),
    ("class A:\n    def __reduce__(self): return print, ()", S),
    (
        "class E:\n    def __enter__(self): return 1\n    def __exit__(self, *a): d.append(a[2])\nd = []\ntry:\n    with E(): 1 / 0\nexcept ZeroDivisionError: d[0]",
        R,
    ),
    ("class E:\n    def __enter__(self): return 1\n    def __exit__(self, a, b, c): vars(c)\nwith E(): 1 / 0", R),
    ("(1).__class__.__mro__[-1].__subclasses__", S),
    ("getattr((1).__class__.__mro__[-1], '__subcl' + 'asses__')", R),
    ("int.__dict__", R),
    ("vars(str)", R),
    ("class A: pass\nA.__dict__", R),
    ("(lambda: 0).__dict__", R),
    ("print.__dict__", R),
    ("int.__new__(int, '5')", R),
    ("bytearray().__init__(10**12)", R),
    ("'x'.__mul__(10**12)", I),
    ("str.__mul__('x', 10**12)", I),
    ("(9).__pow__(9**9)", I),
    ("'%1000000000000d'.__mod__(1)", I),
    ("'x'.__format__('1000000000000')", I),
    ("[].__iadd__(iter(int, 1))", I),
    ("'{0.__class__.__init__.__globals__}'.format(row)", R),
    ("class A(type((1).__class__)): pass", R),
]

UNASKED = [
    ("str.zfill(str, 'x', 10**12)", TypeError),
    ("str.join(str, ',', ['x'])", TypeError),
    ("list(map(str.ljust, [str], ['x'], [10**12]))", TypeError),
    ("import fractions\nfractions.Fraction('1e1000000000')", I),
    ("import decimal, math\nmath.floor(decimal.Decimal('1e100000000'))", I),
    ("import decimal\nround(decimal.Decimal('1e100000000'))", I),
    ("import decimal\ndecimal.setcontext(decimal.Context(prec=1))", R),
    ("import random\nrandom.seed(1)", R),
    ("import time\ntime.sleep(1000)", R),
    ("import uuid\nuuid.getnode()", R),
    ("import numbers\nnumbers.Number.register(str)", R),
    ("import collections.abc\ncollections.abc.Mapping.register(str)", R),
    ("s = 'eval(s)'\neval(s)", I),
    ("import re\nre.purge()", R),
    ("import keyword\nkeyword.kwlist.append('x')\nassert 'x' not in keyword.kwlist\nkeyword.softkwlist_", AttributeError),
    ("a, *b = range(10**12)", I),
    ("[*range(10**12)]", I),
    ("print(*range(10**12))", I),
    ("for a, *b in [range(10**12)]: pass", I),
    ("[b for a, *b in [range(10**12)]]", I),
    ("(a, (b, *c)) = 1, range(10**12)", S),
    ("range(10**12).count(1.5)", I),
    ("range(10**12).index(1.5)", I),
    ("{}.keys() & range(10**12)", I),
    ("{}.keys() | range(10**12)", I),
    ("{}.keys().isdisjoint(range(10**12))", I),
    ("int.from_bytes(iter(int, 1), 'big')", I),
    ("import random\nrandom.choices([1], k=10**10)", I),
    ("import enum\nclass A(enum.IntEnum):\n    X = 1\n    def bit_length(self): return 0", R),
    ("import collections\nclass A(collections.Counter): pass", R),
    ("import collections\ncollections.UserString('a') * 10**12", R),
    ("class Decimal:\n    def is_finite(self): return True\n    def adjusted(self): return float('nan')\nformat(Decimal(), '')\n'a' * 10**9", I),
    ("class Fraction:\n    numerator = denominator = 1\nFraction() * 3", TypeError),
    ("def g():\n    try: yield 1\n    finally:\n        while True: pass\nx = g()\nnext(x)\ndel x\nfor i in range(10): pass", I),
]
if HAS >= (3, 10):
    UNASKED += [("match range(10**12):\n    case [a, *b]: pass", I), ("match [range(10**12)]:\n    case [[a, *b]]: pass", S)]
if HAS >= (3, 12):
    UNASKED += [("def f[T: open](): pass", S), ("type X = open", S), ("type X = ().__class__", S)]


class Breaks(unittest.TestCase):
    def setUp(self):
        CALLED.clear()
        self.hook, sys.unraisablehook = sys.unraisablehook, lambda u: None

    def tearDown(self):
        sys.unraisablehook = self.hook

    def names(self):
        return {"fs": [os.getpid, secret], "ms": [os], "row": Row()}

    def test_functions_in_the_callers_data(self):
        judged = rules(
            call=[*("map filter sorted max next iter print list vars dir property staticmethod".split())], attribute=["*", "format", "format_map"]
        )
        judged = rules(call=[*judged.call.tokens, "int", "dir", "eval", "exec"], attribute=["*", "format", "format_map"])
        for texts, mode in ((UNGRANTED, "eval"), (UNGRANTED_TEXTS, "exec")):
            for text in texts:
                with self.subTest(text), self.assertRaises(RuleEvalPermissionError):
                    inside(text, mode, self.names(), judged)
        self.assertEqual(CALLED, [])
        inside("fs[1](1)", "eval", self.names(), rules(call=["secret"]))
        self.assertEqual(CALLED, [(1,)])

    def test_with_many_special_methods_granted(self):
        for text, kind in WITH_MAGIC:
            with self.subTest(text):
                with self.assertRaises(kind) as caught:
                    inside(text, "exec", self.names(), rules(magic=MAGIC, call=CALLS, max_iterations=50000, max_alloc="2M"))
                self.assertIs(type(caught.exception), kind)
        self.assertEqual(CALLED, [])

    def test_what_c_goes_through(self):
        for text, kind in UNASKED:
            with self.subTest(text):
                with self.assertRaises(kind) as caught:
                    inside(text, "exec", self.names(), rules(max_iterations=50000, max_alloc="2M"))
                self.assertIs(type(caught.exception), kind)

    def test_modules_give_no_modules(self):
        doors = "uuid.os statistics.sys dataclasses.sys typing.sys enum.sys calendar.sys random._os collections._sys pprint._sys json.codecs re.enum logging.os"
        doors += " json.decoder.scanner textwrap.re fractions.sys functools.GenericAlias string._string copy.weakref datetime.sys decimal.sys operator.builtins"
        granted = ["*", "typing", "logging"]
        for door in doors.split():
            module, name = door.split(".", 1)
            for text in (
                f"import {module}\nx = {door}",
                f"from {module} import {name.split('.')[0]}",
                f"import {module}\nx = getattr({module}, {name.split('.')[0]!r})",
            ):
                with self.subTest(text), self.assertRaises((RuleEvalPermissionError, EvalSyntaxRejected, ImportError, AttributeError)) as caught:
                    inside(text, "exec", judged=rules(**{"import": granted, "attribute": ["*", "_os", "_sys", "_string"]}))
                if isinstance(caught.exception, (ImportError, AttributeError)):
                    self.assertFalse(hasattr(__import__(module), name.split(".")[0]), text)

    def test_program_objects_at_a_call_site(self):
        class Conn:
            frame, klass, mod, cb = sys._getframe(), type, os, staticmethod(secret)

        judged = rules(call=["Conn", "map", "f"])
        texts = [
            "conn.frame",
            "conn.mod",
            "os.system",
            "(lambda: os.getcwd())()",
            "[os for _ in [1]]",
            "conn.klass('X', (), {})",
            "conn.cb(1)",
            "f'{conn.mod}'",
        ]
        for text in texts:
            with self.subTest(text), self.assertRaises(RuleEvalPermissionError):
                at_site(text, "eval", {"conn": Conn(), "Conn": Conn, "os": os}, judged)
        if HAS >= (3, 10):
            for use in ("m.system", "k('X', (), {})", "c(1)", "[*map(c, [1])]", "[*map(k, ['X'], [()], [{}])]"):
                text = f"match conn:\n    case Conn(mod=m, klass=k, cb=c): x = {use}"
                with self.subTest(text), self.assertRaises(RuleEvalPermissionError):
                    at_site(text, "exec", {"conn": Conn(), "Conn": Conn}, judged)
        self.assertEqual(CALLED, [])

    def test_nothing_runs_after_the_end(self):
        text = "def f():\n    n.append(1)\ndef g():\n    try: yield 1\n    finally: f()\nx = g()\nnext(x)\nx = [x]\nx.append(x)\n"
        import gc

        n = []
        inside(text, "exec", {"n": n})
        gc.collect()
        self.assertEqual(n, [])


CALLS = "print list vars dir bytes type getattr range str int repr bytearray iter AssertionError ZeroDivisionError next len".split()


class Many(unittest.TestCase):
    def test_a_function_does_not_leave_behind_a_million_lists(self):
        from psb import guarded_eval

        text = "[(lambda: 1), [[] for x in range(999999)]]"
        granted = {"syntax": ["comprehension", "func"], "call": ["range"], "max_alloc": "1G", "timeout": "60s"}
        with self.assertRaises(RuleEvalPermissionError):
            guarded_eval(text, in_process=True, rules=granted)


if __name__ == "__main__":
    unittest.main()
