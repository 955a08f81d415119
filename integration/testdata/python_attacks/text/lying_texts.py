# A text of a class of its own lies about what it is.
#: exec classes ppp magic
class S(str):
    def startswith(self, *a):
        return False
    def endswith(self, *a):
        return False
print("reached", getattr((), S("__cl" + "ass__")))
#--
class S(str):
    def __eq__(self, other):
        return str.__eq__(self, other)
    __hash__ = str.__hash__
    def __str__(self):
        return "harmless"
    def __contains__(self, part):
        return False
print("reached", getattr((), S("__cl" + "ass__")))
#--
class S(str):
    def format(self, *a):
        return str.format(self, *a)
print("reached", S("{0.__cl" + "ass__}").format(1))
