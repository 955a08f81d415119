"""Prints what a guarded evaluation costs beside a plain one: python speed.py [SECONDS PER ROW]"""

import os
import sys
import timeit

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from psb.evals import run  # noqa: E402
from psb.evals.rules import Rules  # noqa: E402
from psb.evals.sites import evaluate  # noqa: E402
from psb.guarded import guarded_eval  # noqa: E402

PROFILE = {"syntax": ["arith", "comprehension"], "call": ["sum", "range"]}
RULES = Rules(PROFILE)


def fresh():
    run._cache.clear()
    run.here("1+2", "eval", RULES, None)


def rows():
    code = compile("1+2", "<string>", "eval")
    space = {"a": 1, "b": 2}
    yield "eval, compiled before: 1+2", lambda: eval(code)
    yield "eval: 1+2", lambda: eval("1+2")
    yield "in process, cached: 1+2", lambda: guarded_eval("1+2", rules=PROFILE, in_process=True)
    yield "in process, cached, parsed rules: 1+2", lambda: run.here("1+2", "eval", RULES, None)
    yield "in process, fresh: 1+2", fresh
    yield "child: 1+2", lambda: guarded_eval("1+2", rules=PROFILE)
    yield "eval: a+b", lambda: eval("a+b", dict(space))
    yield "in process, cached: a+b", lambda: guarded_eval("a+b", names=space, rules=PROFILE, in_process=True)
    yield "at a call site, cached: a+b", lambda: evaluate("eval", "a+b", space, None, RULES)
    yield "eval: sum(x * x for x in range(1000))", lambda: eval("sum(x * x for x in range(1000))")
    yield "in process: sum(x * x for x in range(1000))", lambda: run.here("sum(x * x for x in range(1000))", "eval", RULES, None)


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0.3
    for name, f in rows():
        f()
        timer = timeit.Timer(f)
        n = 1
        while timer.timeit(n) < seconds / 10:
            n *= 2
        best = min(timer.repeat(5, n)) / n
        print(f"{name:48} {best * 1e6:10.1f} us")


if __name__ == "__main__":
    main()
