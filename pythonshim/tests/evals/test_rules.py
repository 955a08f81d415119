"""Profiles: what a line grants, what no line can, and what is said of a wrong one."""

import os
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import ALL, EVERYTHING, HAS, inside, rules  # noqa: E402
import psb.evals  # noqa: E402
from psb.errors import EvalSyntaxRejected, RuleEvalPermissionError  # noqa: E402
from psb.evals import learn, scope, words  # noqa: E402
from psb.evals.check import check  # noqa: E402
from psb.evals.rules import Rules  # noqa: E402
from psb.evals.text import parse  # noqa: E402
from psb.guarded import guarded_eval  # noqa: E402


def rejected(text, mode="exec", **profile):
    try:
        inside(text, mode, judged=Rules(profile))
    except EvalSyntaxRejected as e:
        return [(v.line, v.column, v.what, v.fix) for v in e.violations]
    raise AssertionError("not refused")


class Profiles(unittest.TestCase):
    maxDiff = None

    def test_all_violations_at_once(self):
        got = rejected("x = 1\nfor i in range(3):\n    y = i.real + f(i)\nprint(().__class__)\ndel x.y\n")
        self.assertEqual(
            got,
            [
                (1, 0, "syntax Assign (assign)", 'psb policy add eval syntax:assign'),
                (2, 0, "syntax For (loop)", 'psb policy add eval syntax:loop'),
                (2, 9, "call range", 'psb policy add eval call:range'),
                (3, 4, "syntax Assign (assign)", 'psb policy add eval syntax:assign'),
                (3, 8, "syntax BinOp (arith)", 'psb policy add eval syntax:arith'),
                (3, 8, "attribute real", 'psb policy add eval attribute:real'),
                (3, 17, "call f", 'psb policy add eval call:f'),
                (4, 0, "call print", 'psb policy add eval call:print'),
                (4, 6, "magic __class__", 'psb policy add eval magic:__class__'),
                (5, 0, "syntax Delete", 'psb policy add eval syntax:Delete'),
                (5, 4, "deletes the attribute y: never granted", ""),
            ],
        )

    def test_the_text_of_a_violation(self):
        with self.assertRaises(EvalSyntaxRejected) as caught:
            inside("1\n  \n", "exec", judged=Rules({"max_nodes": 1}, "calc"))
        v = caught.exception.violations[0]
        self.assertEqual((v.text, v.fix), ("1", "edit [python.eval.calc]: max_nodes = 2"))
        with self.assertRaises(EvalSyntaxRejected) as caught:
            inside("a.b", judged=Rules({"attribute": ["x", "y*"]}, "calc"))
        self.assertEqual(caught.exception.violations[0].fix, 'psb policy add eval calc/attribute:b')
        self.assertIn('psb: hint: psb policy add eval calc/attribute:b', str(caught.exception))

    def test_what_to_type_for_a_profile_of_the_program(self):
        for limits, fix in (({"syntax": ["compare"]}, 'rules["syntax"] = ["compare", "arith"]'), ({"syntax": ["arith"], "max_depth": 1}, 'rules["max_depth"] = 2')):
            with self.assertRaises(EvalSyntaxRejected) as caught:
                guarded_eval("1 + 2 + 3", rules=limits, in_process=True)
            self.assertEqual(caught.exception.violations[0].fix, fix)

    def test_core_syntax_needs_no_line(self):
        for text in ("1", "'x'", "(1, 'x')", "[1]", "{1: 2}", "{1}", "None", "..."):
            self.assertEqual(inside(text, judged=Rules({})), eval(text))
        inside("pass\n1\n", "exec", judged=Rules({}))

    def test_each_group_grants_its_nodes_only(self):
        texts = {
            "arith": ["1 + 1", "-1"], "compare": ["1 < 2", "1 and 2"], "conditional": ["1 if 2 else 3", "if 1: pass"], "loop": ["for x in []: pass", "while 0: pass"],
            "comprehension": ["[x for x in []]", "{x for x in []}", "{x: 1 for x in []}", "(x for x in [])"], "assign": ["x = 1", "(x := 1)", "x: 1 = 2"],
            "func": ["def f(): return 1", "lambda: 1"], "async": ["async def f(): pass"], "class": ["class A: pass"], "exception": ["raise 1", "try: pass\nfinally: pass"],
            "context": ["with x: pass"], "import": ["import math"], "subscript": ["x[1]", "x[1:2]", "[*x]"], "fstring": ["f'{1}'"], "yield": ["def f(): yield"],
            "Assert": ["assert 1"], "Delete": ["del x"], "Global": ["global x"],
        }  # fmt: skip
        judged = {g: Rules({"syntax": [g, *(["func"] if g in ("yield", "async") else [])], "import": ["math"], "call": ["x"]}) for g in texts}
        for group, each in texts.items():
            for text in each:
                tree = parse(text, "x", "exec", 0, "")
                self.assertEqual([v.what for v in check(tree, text, judged[group]).violations if v.what.startswith("syntax")], [], (group, text))
                others = Rules(
                    {"syntax": [g for g in words.SYNTAX if g != group and (g != "func" or group not in ("yield", "async"))], "import": ["math"]}
                )
                self.assertTrue([v for v in check(tree, text, others).violations if v.what.startswith("syntax")], (group, text))

    def test_new_syntax_is_refused(self):
        class Later(__import__("ast").Pass):
            pass

        tree = parse("pass", "x", "exec", 0, "")
        tree.body = [Later(lineno=1, col_offset=0)]
        self.assertEqual([v.what for v in check(tree, "pass", ALL).violations], ["syntax Later"])

    def test_denials_win(self):
        self.assertEqual(rejected("len([1])", "eval", call=["*", "!len"]), [(1, 0, "call len", "")])
        self.assertEqual(rejected("a = 1\na += 1\n", "exec", syntax=["assign", "!AugAssign"])[0][2], "syntax AugAssign (assign)")
        self.assertEqual(
            rejected("'a'.upper()", "eval", attribute=["str-methods", "!up*"]),
            [(1, 0, "attribute upper", "")],
        )
        self.assertEqual(rejected("'a'.upper()", "eval", attribute=["!str-methods", "*"])[0][2], "attribute upper")

    def test_patterns(self):
        self.assertEqual(inside("'a'.upper()", judged=Rules({"attribute": ["up*"]})), "A")
        for name, profile in (
            ("_x", {"attribute": ["*"]}),
            ("__class__", {"attribute": ["*"], "magic": ["__c*"]}),
            ("gi_frame", {"attribute": ["*", "gi_*"]}),
            ("format", {"attribute": ["*", "str-methods"]}),
        ):
            with self.assertRaises(EvalSyntaxRejected):
                inside(f"a.{name}", names={"a": 1}, judged=Rules(profile))
        self.assertEqual(inside("'{}'.format(1)", judged=Rules({"attribute": ["format"]})), "1")
        for name in ("open", "eval", "getattr", "type", "vars", "super"):
            with self.assertRaises(EvalSyntaxRejected):
                inside(f"[{name}]", judged=Rules({"call": ["*"]}))

    def test_method_groups(self):
        for group, text, want in (
            ("str-methods", "'a'.upper()", "A"), ("list-methods", "[2, 1].index(1)", 1), ("dict-methods", "{1: 2}.get(1)", 2), ("set-methods", "{1}.union({2})", {1, 2}),
            ("tuple-methods", "(1, 1).count(1)", 2), ("num-methods", "(5).bit_length()", 3), ("bytes-methods", "b'a'.hex()", "61"),
        ):  # fmt: skip
            self.assertEqual(inside(text, judged=Rules({"attribute": [group]})), want)
            with self.assertRaises(EvalSyntaxRejected):
                inside(text, judged=Rules({}))
        import datetime

        self.assertEqual(inside("d.isoformat()", names={"d": datetime.date(2020, 1, 2)}, judged=Rules({"attribute": ["date-methods"]})), "2020-01-02")

    def test_never_granted(self):
        for name in sorted(words.CLOSED):
            key = "magic" if words.dunder(name) else "attribute"
            with self.assertRaises(ValueError) as caught:
                Rules({key: [name]})
            self.assertIn("never granted", str(caught.exception))
            with self.assertRaises(EvalSyntaxRejected):
                inside(f"a.{name}", names={"a": 1}, judged=Rules({"attribute": ["*", name[:3] + "*"], "magic": ["*", "__*"]}))
            with self.assertRaises(RuleEvalPermissionError):
                inside(
                    f"getattr(a, {name!r}, 0)",
                    names={"a": 1},
                    judged=Rules({"attribute": ["*", name[:3] + "*"], "magic": ["*", "__*"], "call": ["getattr"]}),
                )
        for name in sorted(words.NEVER):
            with self.assertRaises(ValueError):
                Rules({"call": [name]})
        for name in ("gc", "builtins", "pickle", "importlib.util", "_thread", "psb"):
            with self.assertRaises(ValueError):
                Rules({"import": [name]})

    def test_wrong_profiles_say_all(self):
        wrong = {
            "sintax": [],
            "syntax": ["arit", "Foo"],
            "call": "len",
            "attribute": ["str-method", 3],
            "magic": ["x"],
            "timeout": "2",
            "max_nodes": 0,
            "max_alloc": "1MB",
            "namespace": "open",
        }
        with self.assertRaises(ValueError) as caught:
            Rules(wrong, "calc")
        said = str(caught.exception)
        for part in (
            "[python.eval.calc]", "unknown key 'sintax', did you mean \"syntax\"?", "unknown 'arit', did you mean \"arith\"?", "unknown 'Foo'", "call must be a list",
            "'str-method' is no name, did you mean \"str-methods\"?", "3 is no name", "'x' is no name of the form __name__", "timeout must be a time such as 5s, not '2'",
            "max_nodes must be a whole number from 1, not 0", "max_alloc must be a size such as 10M", "unknown namespace 'open'",
        ):  # fmt: skip
            self.assertIn(part, said)

    def test_values(self):
        r = Rules({"timeout": "250ms", "max_iterations": "1_000", "max_call_depth": 3, "max_alloc": "2K"})
        self.assertEqual(
            (r.limits.timeout, r.limits.max_iterations, r.limits.max_call_depth, r.limits.max_alloc, r.limits.max_depth), (0.25, 1000, 3, 2048, 20)
        )

    def test_the_profiles_of_a_box(self):
        with self.assertRaises(ValueError):
            guarded_eval("1", in_process=True)
        psb.evals._profiles = {"": {"syntax": ["arith"]}, "strict": {}}
        try:
            self.assertEqual(dict(psb.evals.active()), {"": {"syntax": ["arith"]}, "strict": {}})
            self.assertEqual(guarded_eval("1+1", in_process=True), 2)
            with self.assertRaises(EvalSyntaxRejected) as caught:
                guarded_eval("1+1", "strict", in_process=True)
            self.assertEqual(caught.exception.hint, 'psb policy add eval strict/syntax:arith')
            with self.assertRaises(ValueError) as unknown:
                guarded_eval("1", "other", in_process=True)
            self.assertIn("'strict'", str(unknown.exception))
        finally:
            psb.evals._profiles = None


class Learning(unittest.TestCase):
    def test_constructs(self):
        text = "import math as m\nfrom json import loads\n@d\ndef f(x: int, *y): return x.real + len(y)\nclass A:\n    def __init__(self): self.k = 1\nprint(f(3), g[1:2], ().__class__, x.__code__, f'{z!r}')\n"
        self.assertEqual(
            learn.constructs(text, "exec"),
            sorted(
                [
                    ("attribute", "real"),
                    ("call", "int"),
                    ("call", "len"),
                    ("call", "loads"),
                    ("call", "print"),
                    ("import", "json"),
                    ("import", "math"),
                    ("magic", "__class__"),
                    ("magic", "__init__"),
                    ("text", "attribute __code__"),
                    ("text", "sets the attribute k"),
                ]
                + [
                    ("syntax", n)
                    for n in "Assign BinOp ClassDef FormattedValue FunctionDef Import ImportFrom JoinedStr Return Slice Subscript alias arg arguments".split()
                ]
            ),
        )

    def test_the_namespace_tells_more(self):
        import math

        self.assertEqual(
            learn.constructs("math.sqrt(f(x))", "eval", {"math": math, "f": abs, "x": 1}), [("attribute", "sqrt"), ("call", "f"), ("import", "math")]
        )

    def test_it_never_raises_and_never_runs(self):
        for source in ("1 +", "(" * 9999, b"\xff\xff", 3, None, "x" + ".a" * 99999, "\0", "lambda: " * 3000 + "0", object(), "exec('x')"):
            self.assertIsInstance(learn.constructs(source, "exec"), list)

    def test_what_is_learned_is_enough(self):
        import test_language as texts

        for text in texts.EXPRESSIONS:
            self.enough(text, "eval", dict(texts.NAMES))
        for text in texts.STATEMENTS.values():
            self.enough(text, "exec", {})

    def enough(self, text, mode, names):
        profile = {"syntax": [], "call": [], "attribute": [], "import": [], "magic": [], "max_depth": 100}
        for key, name in learn.constructs(text, mode, names):
            profile[key].append(name)
        tree = parse(text, "x", mode, 0, "")
        self.assertEqual(check(tree, text, Rules(profile)).violations, [], text)


class Fuzz(unittest.TestCase):
    """Broken text of every kind: an error of the family or Python's own, never another."""

    def test_texts(self):
        import test_attacks
        import test_language as texts

        corpus = [*texts.EXPRESSIONS, *texts.STATEMENTS.values(), *(a[2] for a in test_attacks.ATTACKS)]
        judged = [ALL, Rules({}), rules(magic=["*"])]
        r = random.Random(7)
        for n in range(3000):
            t = list(r.choice(corpus))
            for _ in range(r.randrange(1, 5)):
                i = r.randrange(len(t) + 1)
                kind = r.randrange(4)
                if kind == 0 and i < len(t):
                    del t[i]
                elif kind == 1:
                    t.insert(i, r.choice("()[]{}'\"\\\n\t:=.,*@#_%$ é\uff43\0\u2028\x0c0a"))
                elif kind == 2:
                    o = r.choice(corpus)
                    j = r.randrange(len(o))
                    t[i:i] = o[j : j + r.randrange(12)]
                elif i < len(t):
                    t[i] = r.choice("xyzabc01_.")
            text = "".join(t)
            try:
                import warnings

                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    for rule in judged[n % 3 : n % 3 + 1]:
                        from psb.evals.run import prepare

                        prepare(text, r.choice(["eval", "exec"]), rule)
            except (SyntaxError, ValueError, EvalSyntaxRejected):
                pass
            except Exception as e:
                self.fail(f"{n}: {text!r}: {e!r}")


class Scopes(unittest.TestCase):
    def test_only_own_names_are_native(self):
        import ast

        def owned(text, name):
            f = ast.parse(text).body[0]
            return scope.of_function(f.args, f.body, scope.module(ast.parse(text))).owns(name)

        self.assertEqual(owned("def f():\n    [(lambda: (open := 1)) for _ in x]\n    open", "open"), "global")
        self.assertEqual(owned("def f():\n    [(open := 1) for _ in x]\n    open", "open"), "local")
        self.assertEqual(owned("def f():\n    [open for open in x]\n    open", "open"), "global")
        self.assertEqual(owned("def f():\n    (open): int\n    open", "open"), "global")
        self.assertEqual(owned("def f():\n    global open\n    open = 1", "open"), "global")
        self.assertEqual(owned("def f():\n    def g(): open = 1\n    class A: open = 1\n    open", "open"), "global")

    def test_no_built_in_is_read_past_the_guard(self):
        for text in (
            "class A:\n    open = open\n",
            "class A:\n    if 0: open = 1\n    x = open\n",
            "def f():\n    [(lambda: (open := 1)) for _ in [1]]\n    return open\nf()\n",
            "def f():\n    (open): int\n    return open\nf()\n",
            "if 0: open = 1\nx = open\n",
            "try: pass\nexcept ValueError as open: pass\nx = open\n",
            "def f():\n    global open\n    return open\nif 0: open = 1\nf()\n",
            "[open for _ in [1] if (open := open) or 1]\n",
        ):
            with self.subTest(text), self.assertRaises(Exception) as caught:
                from cases import at_site

                at_site(text, "exec", judged=rules(call=["ValueError"]))
            self.assertRegex(repr(caught.exception), "EvalSyntaxRejected|RuleEvalPermissionError")


if __name__ == "__main__":
    assert HAS and EVERYTHING
    unittest.main()
