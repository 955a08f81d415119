# status: 1
"""
>>> double(2)
4
>>> double('a')  # doctest: +ELLIPSIS
'...'
>>> double(None)
Traceback (most recent call last):
TypeError: unsupported operand type(s) for *: 'NoneType' and 'int'
>>> double(3)
7
"""
import doctest
import sys


def double(x):
    """
    >>> [double(n) for n in range(3)]
    [0, 2, 4]
    """
    return x * 2


results = doctest.testmod()
print(results)
sys.exit(results.failed)
