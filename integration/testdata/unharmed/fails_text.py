# What evaluated text itself does wrong has the words that it always has.
for what in (lambda: eval("1 +"), lambda: exec("def f():\n    g()\nf()", {}), lambda: compile("x", "name", "nothing"), lambda: eval(3), lambda: eval(), lambda: exec("raise KeyError(1)"),
             lambda: compile("(", "f", "exec"), lambda: eval("1 / 0"), lambda: eval("[][3]"), lambda: exec("x = {}['a']"), lambda: eval("1", 2), lambda: eval("int('x')")):
    try:
        what()
    except Exception as e:
        print(type(e).__name__, e, e.args)
