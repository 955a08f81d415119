# The class list of a class without one underscore.
#: eval wide sp attribute
type(()).mro()
#--
getattr(type(data), "m" + "ro")()
