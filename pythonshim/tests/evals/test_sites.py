"""What stands behind eval, exec and compile at a program's call sites."""

import ast
import collections
import os
import sys
import types
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import ALL, HAS, rules  # noqa: E402
from psb.errors import EvalSyntaxRejected, RuleEvalPermissionError  # noqa: E402
from psb.evals import run  # noqa: E402
from psb.evals.learn import constructs  # noqa: E402
from psb.evals.sites import evaluate, namespaces  # noqa: E402

TOTAL = 5


def ev(source, g=None, loc=None, judged=ALL, **k):
    return evaluate("eval", source, g, loc, judged, "app.py:7", **k)


def ex(source, g=None, loc=None, judged=ALL, **k):
    return evaluate("exec", source, g, loc, judged, "app.py:7", **k)


class Sites(unittest.TestCase):
    def test_globals_and_locals_of_the_caller(self):
        self.assertEqual(ev("x + y", {"x": 1}, {"y": 2}), 3)
        self.assertEqual(ev("x + 1", {"__builtins__": {}}, {"x": 1}), 2)
        self.assertEqual(ev("x", {"x": 1}, {"x": 2}), 2)
        self.assertEqual(ev("(lambda: x)()", {"x": 1}, {"x": 2}), 1)
        self.assertEqual(ev("x + y", {"x": 1}, collections.ChainMap({}, {"y": 5})), 6)
        self.assertEqual(ev("id + sum", {"id": 1, "sum": 2}, None, rules(call=[])), 3)
        with self.assertRaises(NameError):
            ev("len([1])", {"__builtins__": {}})
        self.assertEqual(ev("len([1])", {"__builtins__": {"len": len}}), 1)
        with self.assertRaises(TypeError):
            ev("1", [])

    def test_exec_writes_variables_back(self):
        g = {}
        self.assertIsNone(ex("x = 1\nimport math as m\ndef f(a): return a + x\n", g))
        self.assertEqual(g["f"](1), 2)
        g["x"] = 10
        self.assertEqual(g["f"](1), 11)
        loc = {}
        ex("y = x + 1\nz = [y for _ in range(2)]", g, loc)
        self.assertEqual((loc, "y" in g), ({"y": 11, "z": [11, 11]}, False))
        ex("global w\nw = 1", g, loc)
        self.assertEqual((g["w"], "w" in loc), (1, False))
        seen = {}

        class Space(dict):
            def __setitem__(self, k, v):
                seen[k] = v
                dict.__setitem__(self, k, v)

        ex("a = 1\na += 1", {}, Space())
        self.assertEqual(seen, {"a": 2})

    def test_a_frame_gives_what_a_bare_call_sees(self):
        def inner():
            v = 3
            g, loc = namespaces(sys._getframe())
            self.assertEqual(ev("v + TOTAL", g, loc), 8)
            ex("v = 4\nnew = 1", g, loc)
            return v, "new" in loc

        self.assertEqual(inner(), (3, True))
        g, loc = namespaces(sys._getframe())
        self.assertIs(g, globals())

    def test_the_programs_own_functions_keep_their_built_ins(self):
        def helper(x):
            return len(open(os.devnull).read() if x < 0 else [x])

        g = {"helper": helper, "__builtins__": __builtins__}
        self.assertEqual(ev("helper(3)", g, None, rules(call=["helper"])), 1)
        self.assertIs(g["__builtins__"], __builtins__)

    def test_compile_then_run(self):
        code = evaluate("compile", "x + 1", rules=ALL, filename="f.py", mode="eval")
        self.assertIsInstance(code, types.CodeType)
        self.assertEqual(code.co_filename, "f.py")
        self.assertEqual(ev(code, {"x": 2}), 3)
        both = evaluate("compile", "y = 5", rules=ALL, mode="exec")
        g = {}
        ex(both, g)
        self.assertEqual(g["y"], 5)
        self.assertIsNone(ev(both, {}))
        with self.assertRaises(EvalSyntaxRejected):
            evaluate("compile", "().__class__", rules=ALL, mode="eval")
        with self.assertRaises(ValueError):
            evaluate("compile", "1", rules=ALL, mode="other")

    def test_code_compiled_elsewhere_is_refused(self):
        forged = [compile("1", "<string>", "eval"), compile("1", "f.py", "eval")]
        own = evaluate("compile", "x + 1", rules=ALL, filename="f.py", mode="eval")
        forged += [own.replace(co_consts=own.co_consts), own.replace(co_name="z")]
        import marshal

        # The placeholder of a guard is only a text: run by anything else, the code stops at its first name.
        with self.assertRaises(AttributeError):
            exec(own, {"x": 1})
        forged.append(marshal.loads(marshal.dumps(own)))
        for code in forged:
            with self.assertRaises(RuleEvalPermissionError):
                ev(code, {"x": 1})
        self.assertEqual(ev(own, {"x": 1}), 2)

    def test_rules_are_judged_where_the_code_runs(self):
        code = evaluate("compile", "len(x)", rules=ALL, mode="eval")
        with self.assertRaises(EvalSyntaxRejected):
            ev(code, {"x": [1]}, None, rules(call=[]))

    def test_trees_are_looked_at_again(self):
        tree = ast.parse("x + 1", mode="eval")
        self.assertEqual(ev(tree, {"x": 1}), 2)
        code = evaluate("compile", ast.parse("z = 3"), rules=ALL, mode="exec")
        g = {}
        ex(code, g)
        self.assertEqual(g["z"], 3)
        evil = ast.parse("x.y", mode="eval")
        evil.body.attr = "__class__"
        with self.assertRaises(EvalSyntaxRejected):
            ev(evil, {"x": 1})
        hidden = ast.parse("x", mode="eval")
        hidden.body.id = " d"
        with self.assertRaises((ValueError, SyntaxError, NameError)):
            ev(hidden, {"x": 1, " d": 5})
        wide = ast.parse("x.y", mode="eval")
        wide.body.attr = "__\uff43lass__"
        with self.assertRaises((ValueError, EvalSyntaxRejected)):
            ev(wide, {"x": 1})
        constant = ast.Expression(ast.Constant(value=open, kind=None))
        with self.assertRaises((TypeError, ValueError, SyntaxError, EvalSyntaxRejected, RuleEvalPermissionError)):
            ev(ast.fix_missing_locations(constant), {})
        with self.assertRaises(TypeError):
            ev(ast.parse("x"), {})
        self.assertIsInstance(evaluate("compile", "().__class__", rules=ALL, mode="eval", flags=ast.PyCF_ONLY_AST), ast.Expression)

    def test_flags_and_optimize(self):
        text = "def f(a: b): pass\nassert 0"
        with self.assertRaises(AssertionError):
            ex("assert 0", {})
        code = evaluate("compile", "assert 0\nx = 1", rules=ALL, mode="exec", optimize=1)
        g = {}
        ex(code, g)
        self.assertEqual(g["x"], 1)
        import __future__

        flag = __future__.annotations.compiler_flag
        with self.assertRaises(NameError):
            ex(text, {})
        for k in ({"flags": flag}, {"inherited": flag}):
            code = evaluate("compile", text.split("\n")[0], rules=ALL, mode="exec", **k)
            ex(code, g)
            self.assertEqual(g["f"].__annotations__, {"a": "b"})
        code = evaluate("compile", text.split("\n")[0], rules=ALL, mode="exec", inherited=flag, dont_inherit=True)
        with self.assertRaises(NameError):
            ex(code, {})

    def test_sources_of_every_kind(self):
        for source in ("  1 + 1", b"1 + 1", bytearray(b"1 + 1"), memoryview(b"1 + 1"), type("T", (str,), {})("1 + 1"), "# coding: utf-7\n1 + 1"):
            self.assertEqual(ev(source, {}), 2)
        with self.assertRaises(EvalSyntaxRejected):
            ev("# coding: utf-7\n().+AF8-class+AF8-".replace("+AF8-", "__"), {})
        with self.assertRaises((EvalSyntaxRejected, SyntaxError)):
            ev(b"# coding: utf-7\n().+AF8AXw-class+AF8AXw-", {})
        with self.assertRaises(TypeError):
            ev(1, {})

    def test_namespaces_of_a_profile(self):
        g = {"x": 1}
        with self.assertRaises(NameError):
            ev("x", g, None, rules(namespace="closed"))
        self.assertEqual(ev("1 + 1", g, None, rules(namespace="closed")), 2)
        ex("y = 2\nf = lambda: 1", g, None, rules(namespace="closed"))
        self.assertEqual({k: v for k, v in g.items() if k != "__builtins__"}, {"x": 1, "y": 2})
        self.assertEqual(ev("x.real", {"x": 1}, None, rules(namespace="caller")), 1)
        with self.assertRaises(EvalSyntaxRejected):
            ev("x.__class__", {"x": 1}, None, rules(namespace="caller"))

    def test_built_ins_in_the_namespace_are_learned_as_they_are_granted(self):
        for name, given, attribute in (("getattr", getattr, "real"), ("g", getattr, "real"), ("h", hasattr, "real")):
            with self.subTest(name):
                text, space = f"{name}(x, '{attribute}')", {name: given, "x": 1}
                learned = [n for key, n in constructs(text, "eval", space) if key == "call"]
                self.assertEqual(learned, sorted({name, given.__name__}))
                self.assertEqual(evaluate("eval", text, dict(space), None, {"call": learned, "attribute": ["real"]}), 1)
                with self.assertRaises(RuleEvalPermissionError) as e:
                    evaluate("eval", f"{name}(x, '__class__')", dict(space), None, {"call": learned, "attribute": ["real"]})
                self.assertEqual((e.exception.key, e.exception.target), ("magic", "__class__"))

    def test_an_alias_does_not_grant_a_built_in(self):
        with self.assertRaises(RuleEvalPermissionError) as e:
            evaluate("eval", "g(x, 'real')", {"g": getattr, "x": 1}, None, {"call": ["g"], "attribute": ["real"]})
        self.assertEqual((e.exception.key, e.exception.target, e.exception.hint), ("call", "getattr", 'rules["call"] = ["g", "getattr"]'))

    def test_what_is_never_granted_is_not_learned(self):
        self.assertEqual(constructs("g()", "eval", {"g": globals}), [])
        with self.assertRaises(RuleEvalPermissionError) as e:
            evaluate("eval", "g()", {"g": globals}, None, {"call": ["g", "*"]})
        self.assertEqual((e.exception.key, e.exception.target), ("", "globals"))

    def test_modules_in_the_namespace(self):
        import math

        self.assertEqual(ev("math.sqrt(4)", {"math": math}, None, rules(**{"import": ["math"], "attribute": ["sqrt"]})), 2)
        with self.assertRaises(RuleEvalPermissionError) as caught:
            ev("math.sqrt(4)", {"math": math}, None, rules(**{"import": [], "attribute": ["sqrt"]}))
        self.assertEqual(caught.exception.hint, "psb policy add eval import:math")
        self.assertEqual(caught.exception.key, "import")
        self.assertIn("app.py:7", str(caught.exception))

    def test_the_program_gets_modules(self):
        import math

        g = {}
        ex("import math as m\ndef f(x): return m.sqrt(x)\n", g)
        self.assertIs(g["m"], math)
        self.assertEqual(g["f"](4), 2)
        self.assertIs(ev("math", {"math": math}), math)
        with self.assertRaises(RuleEvalPermissionError):
            ev("os", {"os": os})

    def test_cached_texts_are_bounded(self):
        for i in range(run._MOST + 50):
            ev(f"{i} + 0", {})
        self.assertLessEqual(len(run._cache), run._MOST)

    def test_evaluations_at_once(self):
        import threading

        out = []

        def work(n):
            for _ in range(20):
                out.append(ev("sum(x * n for x in range(200))", {"n": n}, None, rules(max_iterations=400)) == 19900 * n)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        self.assertEqual(out, [True] * 160)


if __name__ == "__main__":
    assert HAS
    unittest.main()
