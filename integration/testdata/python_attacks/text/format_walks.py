# The field grammar of format reads attributes from text.
#: eval wide ppppppppppp magic
("{0." + "__cl" + "ass__.__mro__}").format(1.5)
#--
str.format("{0.__cl" + "ass__}", 1.5)
#--
type("").format("{0.__cl" + "ass__}", 1)
#--
("{a.__cl" + "ass__}").format_map({"a": 1})
#--
("{0:{1.__cl" + "ass__.__name__[0]}}").format("x", "y")
#--
list(map(str.format, ["{0.__cl" + "ass__}"], [1]))
#--
list(map(("{0.__cl" + "ass__}").format, [1]))
#--
("{a[0].__cl" + "ass__}").format(a=data)
#--
[("{0.__cl" + "ass__}").format][0](1)
#--
getattr("{0.__cl" + "ass__}", "form" + "at")(1)
#--
("{0.append.__se" + "lf__}").format(data)
