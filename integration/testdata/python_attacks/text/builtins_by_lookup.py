# The dictionary of the built-ins, by its name in parts.
#: eval wide sps call|magic
globals()["__buil" + "tins__"]
#--
[v for k, v in vars().items() if k.startswith("__buil")] or vars()["__buil" + "tins__"]
#--
__builtins__
