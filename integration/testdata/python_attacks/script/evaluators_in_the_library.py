# The standard library runs texts for whoever gives it one: such a text is the program's. What stands in a file is judged by what it calls.
#: timeit RuleApiPermissionError call timeit.Timer
#: runpy - call os.system
#: doctest - call doctest.DocTestRunner.run
#: console RuleApiPermissionError call builtins.compile
#: debugger RuleApiPermissionError call bdb.Bdb.run
#: profile RuleApiPermissionError call profile.Profile.runctx
import bdb
import os
import pdb
import profile
import runpy
import timeit
import doctest
from tries import attempt, cat


def shell():
    return os.system(cat)


attempt("timeit", lambda: timeit.timeit("import os; os.system(%r)" % cat, number=1))


def ran():
    with open("/tmp/psb-ran.py", "w") as f:
        f.write("import os; os.system(%r)" % cat)
    try:
        runpy.run_path("/tmp/psb-ran.py")
    finally:
        os.remove("/tmp/psb-ran.py")


def tested():
    test = doctest.DocTestParser().get_doctest(">>> import os\n>>> os.system(%r) * 0\n0\n" % cat, {}, "t", None, 0)
    if doctest.DocTestRunner(verbose=False).run(test).failed:
        raise AssertionError("failed")


system = "import os\nos.system(%r)\n" % cat
attempt("console", lambda: [pdb.code.InteractiveConsole().push(line) for line in system.splitlines()])
attempt("debugger", lambda: bdb.Bdb().run(system))
attempt("profile", lambda: profile.Profile().run(system))
attempt("runpy", ran)
attempt("doctest", tested)
