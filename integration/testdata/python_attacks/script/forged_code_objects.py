# Code objects that the guard did not make are not evaluated, whatever file they name.
#| [python.eval]
#| syntax = ["arith", "func"]
#: function RuleEvalPermissionError
#: forged RuleEvalPermissionError
#: replaced RuleEvalPermissionError
#: executed RuleEvalPermissionError
from tries import attempt, canary


def shell():
    return print(open(canary).read())


made = compile("1 + 2", "x", "eval")
print("made", eval(made))
attempt("function", lambda: eval(shell.__code__))
attempt("forged", lambda: eval(shell.__code__.replace(co_filename=made.co_filename)))
attempt("replaced", lambda: eval(made.replace(co_code=shell.__code__.co_code, co_names=shell.__code__.co_names, co_consts=shell.__code__.co_consts, co_stacksize=20)))
attempt("executed", lambda: exec(shell.__code__))
