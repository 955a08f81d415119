"""Ways out of an evaluation with everything granted but Python's own names: each is refused as what it is, and works without the guard."""

import collections
import functools
import operator
import os
import string
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import ALL, HAS, at_site, inside, plain, rules  # noqa: E402
from psb.errors import EvalInterrupted, EvalSyntaxRejected, RuleEvalPermissionError, SandBoxError  # noqa: E402

S, R = EvalSyntaxRejected, RuleEvalPermissionError


class Row:
    def __init__(self):
        self.total = 3
        self.os = os
        self.secret = os.system


ROW = Row()
DATA = {"data": [3, 1, 2], "row": ROW, "fs": [os.getpid], "d": {}, "u": "_" * 2}

# name, mode, text, the refusal, whether the control works without the guard
ATTACKS = [
    ("subclasses from a literal", "eval", "[k for k in {}.__class__.__mro__[-1].__subclasses__()]", S),
    ("from an empty tuple", "eval", "().__class__.__bases__[0].__subclasses__()", S),
    ("getattr with a default", "eval", "getattr((), u + 'ssalc'[::-1] + u, 'fallback')", R),
    ("getattr without", "eval", "getattr((), u + 'class' + u)", R),
    ("hasattr does not answer", "eval", "hasattr((), u + 'class' + u)", R),
    ("getattr through a list", "eval", "[getattr][0]((), u + 'class' + u)", R),
    ("getattr through map", "eval", "list(map(getattr, [()], [u + 'class' + u]))", R),
    ("getattr by a look-alike", "eval", "getattr((), '__\uff43lass__'.replace('\uff43', 'c'))", R),
    ("mro of a class", "eval", "int.mro()[-1].__subclasses__()", S),
    ("in a formatted string", "eval", "f'{().__class__}'", S),
    ("look-alike letters", "eval", "().__\uff43lass__.__\uff4dro__", S),
    ("format, bound", "eval", "('{0.__cl' + 'ass__.__mro__}').format(1.5)", R),
    ("format, unbound", "eval", "str.format('{0.__cl' + 'ass__}', 1)", R),
    ("format of type('')", "eval", "type('').format('{0.__cl' + 'ass__}', 1)", R),
    ("format_map", "eval", "('{x.__cl' + 'ass__}').format_map({'x': 1})", R),
    ("format in a nested field", "eval", "('{0!r:{1.__cl' + 'ass__.__name__}}').format(1, 2)", R),
    ("format through map", "eval", "list(map(str.format, ['{0.__cl' + 'ass__}'], [1]))", R),
    ("format through getattr", "eval", "getattr('{0.__cl' + 'ass__}', 'for' + 'mat')(1)", R),
    ("format of an index", "eval", "('{0[0].__cl' + 'ass__}').format([1])", R),
    ("format as a key", "eval", "sorted(['{.__cl' + 'ass__}'], key=lambda t: t.format(1))", R),
    ("frame of a generator", "eval", "(lambda g: g.gi_frame.f_globals)(x for x in [1])", S),
    ("frame of a generator by getattr", "eval", "getattr((x for x in [1]), 'gi_' + 'frame')", R),
    ("frame of a coroutine", "exec", "async def f(): pass\nc = f()\nx = c.cr_frame\nc.close()", S),
    ("traceback", "exec", "try:\n    1/0\nexcept ZeroDivisionError as e:\n    f = e.__traceback__.tb_frame.f_back", S),
    ("traceback by getattr", "exec", "try:\n    1/0\nexcept ZeroDivisionError as e:\n    f = getattr(e, u + 'traceback' + u)", R),
    ("with_traceback", "exec", "try:\n    1/0\nexcept ZeroDivisionError as e:\n    f = e.with_traceback(None)", S),
    ("reduce protocol", "eval", "data.append.__reduce__()", S),
    ("reduce protocol by getattr", "eval", "getattr(data, u + 'reduce_ex' + u)(2)", R),
    ("self of a built-in", "eval", "len.__self__", S),
    ("globals of a function", "exec", "def f(): pass\nx = f.__globals__", S),
    ("code of a function", "eval", "(lambda: 0).__code__", S),
    ("closure of a function", "eval", "(lambda: 0).__closure__", S),
    ("dict of a class", "eval", "vars(str)", R),
    ("vars of nothing", "eval", "vars()", R),
    ("dir of nothing", "eval", "dir()", R),
    ("locals", "eval", "locals()", S),
    ("locals by an alias", "eval", "[locals][0]()", S),
    ("globals", "eval", "globals()", S),
    ("setattr", "eval", "setattr(row, 'total', 4)", S),
    ("delattr", "eval", "delattr(row, 'total')", S),
    ("breakpoint", "exec", "f = breakpoint", S),
    ("compile", "eval", "compile('1', 'x', 'eval')", S),
    ("__import__", "eval", "__import__('os')", S),
    ("__builtins__", "exec", "x = __builtins__", S),
    ("__builtins__ bound", "exec", "__builtins__ = {'len': lambda x: 42}", S),
    ("__builtins__ imported", "exec", "import json as __builtins__", S),
    ("star import", "exec", "from json import *", S),
    ("relative import", "exec", "from . import x", S),
    ("open", "eval", "open('/dev/null')", S),
    ("open by an alias", "eval", "[*map((f := [open][0]), ['/dev/null'])]", S),
    ("open as a default", "eval", "max(['/dev/null'], key=(lambda o=open: o)())", S),
    ("open as a key", "eval", "sorted(['/dev/null'], key=open)", S),
    ("a caller's function from a list", "eval", "fs[0]()", None),
    ("type with three arguments", "eval", "type('X', (), {})", R),
    ("type of type", "eval", "type(type(1))('X', (), {})", R),
    ("type by an alias", "eval", "[type][0]('X', (), {})", R),
    ("type as a base", "exec", "class A(type(type(1))): pass", R),
    ("metaclass", "exec", "class A(metaclass=lambda *a: 3): pass", S),
    ("metaclass by **", "exec", "class A(**{'metaclass': lambda *a: 3}): pass", S),
    ("special method without a grant", "exec", "class A:\n    def __add__(self, o): return 1", S),
    ("class_getitem", "exec", "class A:\n    __class_getitem__ = print\nA['x']", S),
    ("attribute store", "exec", "row.total = 4", S),
    ("attribute store by for", "exec", "for row.total in [1]: pass", S),
    ("attribute store by with", "exec", "with row as row.total: pass", S),
    ("attribute store by unpacking", "exec", "(row.total, x) = 1, 2", S),
    ("attribute delete", "exec", "del row.total", S),
    ("augmented attribute", "exec", "row.total += 1", S),
    ("module of an object", "eval", "row.os.system", R),
    ("module of a module", "exec", "import uuid\nx = uuid.os", R),
    ("module of a module, from", "exec", "from uuid import os", R),
    ("private module of a module", "exec", "import random\nx = random._os", S),
    ("private module of a module, from", "exec", "from random import _os", R),
    ("attrgetter", "exec", "import operator, functools\nx = functools.reduce(lambda o, n: operator.attrgetter(n)(o), [u + 'class' + u], ())", R),
    ("attrgetter, dotted", "exec", "import operator\nx = operator.attrgetter('real.' + u + 'class' + u)(1)", R),
    ("methodcaller", "exec", "import operator\nx = operator.methodcaller(u + 'reduce_ex' + u, 2)([])", R),
    ("methodcaller of format", "exec", "import operator\nx = operator.methodcaller('format', 1)('{0.__cl' + 'ass__}')", R),
    ("Formatter", "exec", "import string\nx = string.Formatter().format('{0.__cl' + 'ass__}', 1)", R),
    ("Formatter, get_field", "exec", "import string\nx = string.Formatter().get_field('0.__cl' + 'ass__', (1,), {})", R),
    ("Formatter, derived", "exec", "import string\nclass F(string.Formatter):\n    def parse(self, t): return [('', '0.__class__', '', None)]", R),
    ("get_type_hints", "exec", "import typing\ndef f(a: 'len([])'): pass\nx = typing.get_type_hints(f)", R),
    ("ForwardRef", "exec", "import typing\nx = typing.ForwardRef('1')", R),
    ("singledispatch", "exec", "import functools\nx = functools.singledispatch", R),
    ("inspect.currentframe", "exec", "import inspect\nx = inspect.currentframe()", R),
    ("sys._getframe", "exec", "import sys\nx = sys._getframe()", S),
    ("sys._getframe by getattr", "exec", "import sys\nx = getattr(sys, '_getframe')", R),
    ("sys.modules", "exec", "import sys\nx = sys.modules", R),
    ("types.FunctionType", "exec", "import types\nx = types.FunctionType", R),
    ("FunctionType by type", "eval", "type(lambda: 0)(1, {})", R),
    ("gc", "exec", "import gc", S),
    ("importlib", "exec", "import importlib", S),
    ("ctypes", "exec", "import ctypes", S),
    ("builtins", "exec", "import builtins", S),
    ("pickle", "exec", "import pickle", S),
    ("marshal", "exec", "import marshal", S),
    ("os by a pattern", "exec", "import os", S),
    ("subprocess by a pattern", "exec", "import subprocess", S),
    ("private module", "exec", "import _thread", S),
    ("annotation of a parameter", "exec", "def f(a: ().__class__): pass", S),
    ("annotation of a variable", "exec", "x: ().__class__ = 1", S),
    ("annotation of a result", "exec", "def f() -> (lambda: 0).__globals__: pass", S),
    ("annotations read", "exec", "def f(a: int): pass\nx = f.__annotations__", S),
    ("decorator", "exec", "@vars\nclass A: pass", R),
    ("decorators in a row", "exec", "@list\n@vars\nclass A: pass", R),
    ("nested eval", "eval", "eval('().__cl' + 'ass__')", S),
    ("nested eval with builtins", "eval", "eval('__imp' + 'ort__(\"os\")', {})", S),
    ("nested exec", "exec", "exec('import g' + 'c')", S),
    ("print to a file", "eval", "print(1, file=row)", R),
    ("subclass of str", "exec", "class T(str):\n    pass", R),
    ("object's getattribute", "eval", "object.__getattribute__((), '__class__')", S),
    ("super's getattribute", "exec", "class A:\n    def f(self): return super().__getattribute__('x')", S),
    ("dataclass of a caller's class", "exec", "import dataclasses\ndataclasses.dataclass(type(row))", R),
    ("exception keeps the object", "exec", "try:\n    row.nope\nexcept AttributeError as e:\n    x = e.__context__", S),
    ("caller's callable by name", "eval", "(lambda f: f())(row.secret)", None),
]
if HAS >= (3, 10):
    ATTACKS += [
        ("pattern reads closed", "exec", "match data:\n    case object(__class__=c): pass", S),
        ("pattern reads a guarded method", "exec", "match 'x':\n    case str(format=f): pass", S),
        ("pattern, positional", "exec", "class A: pass\nmatch data:\n    case A(x): pass", S),
        ("pattern captures a helper", "exec", "match data:\n    case __builtins__: pass", S),
        ("pattern, value", "exec", "match data:\n    case row.total: pass", S),
    ]


class Attacks(unittest.TestCase):
    def test_each_is_refused_in_a_closed_namespace(self):
        for name, mode, text, kind in ATTACKS:
            if kind is None:
                continue
            with self.subTest(name):
                with self.assertRaises(kind) as caught:
                    inside(text, mode, dict(DATA))
                self.assertIs(type(caught.exception), kind)

    def test_each_is_refused_at_a_call_site(self):
        for name, mode, text, kind in ATTACKS:
            if kind is None:
                continue
            with self.subTest(name):
                with self.assertRaises(kind) as caught:
                    at_site(text, mode, dict(DATA))
                self.assertIs(type(caught.exception), kind)

    def test_the_control_works_without_the_guard(self):
        fails = {"__builtins__ imported", "relative import", "attribute store by with", "decorators in a row", "nested eval with builtins"}
        fails |= {
            "FunctionType by type",
            "open",
            "open by an alias",
            "open as a default",
            "open as a key",
            "format in a nested field",
            "caller's callable by name",
            "breakpoint",
            "type as a base",
            "attribute delete",
            "exception keeps the object",
            "decorator",
        }
        fails |= {"dataclass of a caller's class", "print to a file", "private module of a module", "super's getattribute", "module of a module"}
        fails |= {"private module of a module, from", "get_type_hints", "pattern, positional", "__builtins__ bound", "star import"}
        fails |= {"class_getitem", "print to a file", "pattern captures a helper", "setattr", "delattr", "module of a module, from"}
        for name, mode, text, kind in ATTACKS:
            if name in fails or name in ("augmented attribute",):
                continue
            with self.subTest(name):
                plain(text, mode, {**DATA, "row": Row()})

    def test_functions_of_the_caller_need_their_name(self):
        judged = rules(call=["list", "map", "sorted", "max"])
        for text in ("fs[0]()", "list(map(fs[0], [1]))", "sorted([1], key=fs[0])", "(lambda f: f())(row.secret)", "max([1], key=row.secret)"):
            with self.subTest(text), self.assertRaises(RuleEvalPermissionError):
                inside(text, "eval", dict(DATA), judged)
        with self.assertRaises(EvalSyntaxRejected) as caught:
            inside("f(1)", "eval", {"f": abs}, judged)
        self.assertEqual(caught.exception.violations[0].fix, "psb policy add eval call:f")
        with self.assertRaises(RuleEvalPermissionError):
            inside("[f][0](1)", "eval", {"f": abs}, judged)
        self.assertEqual(inside("fs[0]()", "eval", dict(DATA), rules(call=["getpid"])), os.getpid())

    def test_built_ins_under_another_name(self):
        for f in (eval, exec, compile, open, getattr, setattr, globals, locals, vars, __import__, type):
            judged = rules(call=["*", "f"])
            with self.subTest(f.__name__), self.assertRaises(RuleEvalPermissionError):
                inside("f", "eval", {"f": f}, judged)
            with self.subTest(f.__name__), self.assertRaises(RuleEvalPermissionError):
                inside("fs[0]", "eval", {"fs": [f]}, judged)

    def test_exceptions_give_no_objects_back(self):
        judged = rules(attribute=["*"], magic=[])
        for name in ("obj", "name", "path", "value", "args", "object"):
            text = f"try:\n    row.nope\nexcept Exception as e:\n    x = getattr(e, {name!r})"
            with self.subTest(name), self.assertRaises(RuleEvalPermissionError) as caught:
                inside(text, "exec", {"row": ROW}, judged)
            e = caught.exception
            self.assertIsNone(e.__context__)
            self.assertIsNone(e.__cause__)
            self.assertFalse(any(v is ROW for v in vars(e).values()))

    def test_guards_are_not_among_names(self):
        space = {"x": 1}
        at_site("a = [i for i in range(3)]\ndef f(n):\n    return n + x\nb = f(1)\nb += 1\n", "exec", space)
        self.assertEqual(set(space), {"x"})
        space = {"x": 1}
        from psb.evals.sites import evaluate

        evaluate(
            "exec", "a = [i for i in range(3)]\nfor k in a:\n    x += k\nd = {}\nd['k'] = 2\nd['k'] += 1\nclass C:\n    y = 1\n", space, None, ALL
        )
        self.assertEqual(set(space) - {"__builtins__"}, {"x", "a", "k", "d", "C"})
        self.assertEqual((space["x"], space["d"]), (4, {"k": 3}))

    def test_reserved_helpers_have_no_name_to_bind(self):
        for name in ("__sb_check__", "guard", "_guard", "R"):
            for text in (f"def {name}(): return 7\nx = [1][0]", f"import json as {name}\nx = [1][0]", f"for {name} in [1]: pass\nx = [1][0]"):
                if name.startswith("__"):
                    with self.assertRaises(EvalSyntaxRejected):
                        inside(text, "exec")
                else:
                    self.assertEqual(inside(text, "exec")["x"], 1)

    def test_the_same_through_python_itself(self):
        # What the guard hides is what Python has: the objects behind the refusals exist.
        self.assertTrue(operator.attrgetter("__class__")(1) is int and functools.reduce and string.Formatter and collections.namedtuple)

    def test_sandbox_errors_are_one_family(self):
        for text, kind in (("().__class__", EvalSyntaxRejected), ("getattr(1, '__class__')", RuleEvalPermissionError)):
            with self.assertRaises(SandBoxError) as caught:
                inside(text)
            self.assertIs(type(caught.exception), kind)
        with self.assertRaises(EvalInterrupted):
            inside("9**9**9")


if __name__ == "__main__":
    unittest.main()
