# An attribute inside an f-string, its conversion and its format.
#: eval wide sss magic
f"{().__class__}"
#--
f"{data!r:{'s' if ().__class__ else 's'}}" if 0 else f"{1:{len(().__class__.__name__)}}"
#--
f"{[x.__class__ for x in data]}"
