# All names of a module at once.
#: exec wide ss import|syntax
from json import *
print("reached", loads)
#--
from operator import *
print("reached", attrgetter)
