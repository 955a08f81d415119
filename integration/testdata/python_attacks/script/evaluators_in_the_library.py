# The standard library runs texts for whoever gives it one: what they call is judged, the text is not.
#: timeit - call os.system
#: runpy - call os.system
#: doctest - call os.system
import os
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


attempt("runpy", ran)
attempt("doctest", tested)
