# A method by its name.
#: exec wide ppp magic
import operator
print("reached", operator.methodcaller("__red" + "uce_ex__", 2)(()))
#--
import operator
print("reached", operator.methodcaller("for" + "mat", 1)("{0.__cl" + "ass__}"))
#--
from operator import methodcaller
print("reached", list(map(methodcaller("__sub" + "classes__"), [int])))
