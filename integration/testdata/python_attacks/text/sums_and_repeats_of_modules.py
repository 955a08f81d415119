# Modules of mathematics and iteration compute without end in one call.
#: exec bounded iiiiiiiii max_alloc|max_iterations|timeout
import math
math.factorial(10 ** 9)
#--
import math
math.comb(10 ** 9, 5 * 10 ** 8)
#--
import itertools
list(itertools.count())
#--
import itertools
"".join(itertools.repeat("x"))
#--
import itertools
sum(itertools.cycle([1]))
#--
import itertools
list(itertools.product(range(10 ** 5), repeat=3))
#--
import collections, itertools
collections.deque(itertools.count(), 1)
#--
import itertools
list(itertools.permutations(range(100)))
#--
import itertools
next(itertools.dropwhile(lambda x: True, itertools.count()))
