# Without a table of [python.eval] no text is evaluated on the program's behalf.
#: eval RuleApiPermissionError call builtins.eval
#: exec RuleApiPermissionError call builtins.exec
#: compile RuleApiPermissionError call builtins.compile
#: alias RuleApiPermissionError call builtins.eval
#: mapped RuleApiPermissionError call builtins.eval
#: keyed RuleApiPermissionError call builtins.eval
import builtins
from tries import attempt, canary

text = "print(open(%r).read())" % canary
attempt("eval", lambda: eval(text))
attempt("exec", lambda: exec(text))
attempt("compile", lambda: compile(text, "x", "exec"))
attempt("alias", lambda: vars(builtins)["ev" + "al"](text))
attempt("mapped", lambda: list(map(eval, [text])))
attempt("keyed", lambda: sorted([text], key=eval))
