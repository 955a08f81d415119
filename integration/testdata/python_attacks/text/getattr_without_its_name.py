# getattr called where no call of that name can be seen.
#: eval wide ppppppp magic
[getattr][0]((), "__cl" + "ass__")
#--
{"g": getattr}["g"]((), "__cl" + "ass__", 1)
#--
list(map(getattr, [()], ["__cl" + "ass__"]))
#--
(lambda g: g((), "__cl" + "ass__"))(getattr)
#--
max([""], key=lambda s, g=getattr: [g((), "__cl" + "ass__")] and 1) or [getattr]
#--
(g := getattr)((), *["__cl" + "ass__"])
#--
list(filter(lambda n: hasattr((), n), ["__cl" + "ass__"]))
