# From a literal to every loaded class.
#: eval wide sssss magic|attribute
[k.__name__ for k in {}.__class__.__mro__[-1].__subclasses__() if k.__name__.endswith(("Popen", "Loader", "_wrap_close"))]
#--
().__class__.__base__.__subclasses__()
#--
"".__class__.mro()[1]
#--
(lambda: 0).__globals__
#--
[].append.__self__.__class__
