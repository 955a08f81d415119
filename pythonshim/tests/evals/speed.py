"""Prints what a guarded evaluation costs beside a plain one.

    python speed.py [SECONDS PER ROW]            # every row
    python speed.py --sum [SECONDS PER ROW]      # 1+2 alone, beside other evaluators that can be imported: MODE<tab>MICROSECONDS

Every row runs in this process, so that they can be compared; the best of five measures stands for each."""

import os
import random
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
    return guarded_eval("1+2", rules=PROFILE, in_process=True)


def sums():
    code = compile("1+2", "<string>", "eval")
    yield "plain eval", lambda: eval("1+2")
    yield "plain eval, compiled before", lambda: eval(code)
    yield "in process, cached", lambda: guarded_eval("1+2", rules=PROFILE, in_process=True)
    yield "in process, fresh text", fresh
    yield "child", lambda: guarded_eval("1+2", rules=PROFILE)


def restricted():
    from RestrictedPython import compile_restricted, safe_builtins

    return lambda: eval(compile_restricted("1+2", "<string>", "eval"), {"__builtins__": safe_builtins})


def asteval():
    from asteval import Interpreter

    evaluator = Interpreter()
    return lambda: evaluator("1+2")


OTHERS = {"RestrictedPython": restricted, "asteval": asteval}


def rows():
    for name, f in sums():
        yield name + ": 1+2", f
    space = {"a": 1, "b": 2}
    yield "in process, cached, parsed rules: 1+2", lambda: run.here("1+2", "eval", RULES, None)
    yield "eval: a+b", lambda: eval("a+b", dict(space))
    yield "in process, cached: a+b", lambda: guarded_eval("a+b", names=space, rules=PROFILE, in_process=True)
    yield "at a call site, cached: a+b", lambda: evaluate("eval", "a+b", space, None, RULES)
    yield "eval: sum(x * x for x in range(1000))", lambda: eval("sum(x * x for x in range(1000))")
    yield "in process: sum(x * x for x in range(1000))", lambda: run.here("sum(x * x for x in range(1000))", "eval", RULES, None)


def measured(f, seconds):
    f()
    timer = timeit.Timer(f)
    n = 1
    while timer.timeit(n) < seconds / 10:
        n *= 2
    return min(timer.repeat(5, n)) / n * 1e6


def beside(seconds):
    modes = list(sums())
    absent = []
    for name, make in OTHERS.items():
        try:
            modes.append((name, make()))
        except ImportError:
            absent.append(name)
    for name, f in modes:
        if f() != 3:
            raise SystemExit(f"{name}: 1+2 is not {f()!r}")
    order = random.sample(modes, len(modes))
    took = {name: measured(f, seconds) for name, f in order}
    for name, _ in modes:
        print(f"{name}\t{took[name]:.4f}")
    for name in absent:
        print(f"{name}\tnot here")


def main(words):
    alone = words[:1] == ["--sum"]
    words = words[alone:]
    seconds = float(words[0]) if words else 0.3
    if alone:
        beside(seconds)
        return
    for name, f in rows():
        print(f"{name:48} {measured(f, seconds):10.1f} us")


if __name__ == "__main__":
    main(sys.argv[1:])
