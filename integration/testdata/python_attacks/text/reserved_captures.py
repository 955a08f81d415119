# A pattern binds such a name.
#: exec wide ssss magic 3.10
match 1:
    case __builtins__:
        print("reached")
#--
match [1, 2]:
    case [*__builtins__]:
        print("reached")
#--
match {"a": 1}:
    case {**__builtins__}:
        print("reached")
#--
match 1:
    case int() as __builtins__:
        print("reached")
