# Holders give what they hold, without an underscore.
#: exec wide pp attribute
import functools
print("reached", functools.partial(print, data).func)
#--
import functools
print("reached", functools.partial(print, data).args)
