# What no line names is not imported.
#: exec wide ssss import
import os
print("reached", os)
#--
from os import path
print("reached", path)
#--
import os.path as p
print("reached", p)
#--
def f():
    import subprocess
    return subprocess
print("reached", f())
