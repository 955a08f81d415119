# Modules that run a text given to them.
#: exec wide ss call|attribute|import
import timeit
timeit.timeit("print('reached')", number=1)
#--
import timeit
timeit.Timer("print('reached')").timeit(1)
