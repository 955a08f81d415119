# Code objects made by hand pass every look at the source.
#| [python.import]
#| "marshal" = true
#: marshalled RuleApiPermissionError call marshal.loads
#: executed RuleApiPermissionError call builtins.exec
#: compiled RuleApiPermissionError call builtins.compile
#: evaluated RuleApiPermissionError call builtins.eval
#: named-as-library RuleApiPermissionError call os.system
import marshal
import os
import types
from tries import attempt, canary, cat


def f():
    return 1


def shell():
    return os.system(cat)


attempt("marshalled", lambda: types.FunctionType(marshal.loads(marshal.dumps(f.__code__)), {})())
attempt("executed", lambda: exec(shell.__code__))
attempt("compiled", lambda: compile("1", os.__file__, "exec"))
attempt("evaluated", lambda: eval(f.__code__))
attempt("named-as-library", lambda: types.FunctionType(shell.__code__.replace(co_filename=os.__file__), globals())())
