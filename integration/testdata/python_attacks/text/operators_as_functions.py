# The operators of a module know no limits.
#: exec bounded iiiiiiii max_alloc|max_iterations|timeout
import operator
operator.pow(9, 9 ** 9)
#--
import operator
operator.mul("a", 10 ** 12)
#--
import operator
operator.lshift(1, 10 ** 12)
#--
import operator, functools
functools.reduce(operator.mul, [3 ** 100000] * 10 ** 6)
#--
import operator
s = "ab"
for i in range(60):
    s = operator.concat(s, s)
#--
import operator
operator.mod("%1000000000000d", 1)
#--
import operator
operator.imul(data, 10 ** 12)
#--
from functools import reduce
reduce(lambda a, b: a * a, range(60), 3)
