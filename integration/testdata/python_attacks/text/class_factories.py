# A class out of three arguments.
#: eval wide ppp call|syntax
type("X", (), {})
#--
[type][0]("X", (list,), {"a": 1})
#--
type(type(()))("X", (), {})
