# Text evaluated by text.
#: eval dynamic ssssss magic|import|call
eval("()." + "__class__")
#--
eval(compile("().__" + "class__", "x", "eval"))
#--
exec("import o" + "s") or 1
#--
list(map(eval, ["().__" + "class__"]))
#--
eval("__import__('os')")
#--
(lambda e: e("().__cl" + "ass__"))(eval)
