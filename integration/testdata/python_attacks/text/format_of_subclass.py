# A class of the text's own inherits format.
#: exec wide pp magic
class S(str):
    pass
print("reached", S("{0.__cl" + "ass__}").format(1))
#--
class S(str):
    def walk(self, *a):
        return super().format(*a)
print("reached", S("{0.__cl" + "ass__}").walk(1))
