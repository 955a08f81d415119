# From 3.10 the object itself hangs at the error.
#: exec - ss attribute 3.10
try:
    data.nope
except AttributeError as e:
    print("reached", e.obj is data)
#--
try:
    data.nope
except AttributeError as e:
    print("reached", e.name)
