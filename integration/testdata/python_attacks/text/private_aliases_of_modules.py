# Modules hide their imports behind one underscore.
#: exec wide ssspp attribute|import
import random
print("reached", random._os)
#--
import collections
print("reached", collections._sys)
#--
import pprint
print("reached", pprint._sys)
#--
from random import _os
print("reached", _os)
#--
import random
print("reached", getattr(random, "_" + "os"))
