# Built-in functions that change objects of the caller.
#: exec wide sss call
setattr(tool, "left", 1)
print("reached", tool)
#--
delattr(tool, "kept")
print("reached", tool)
#--
[setattr][0](tool, "left", 1)
print("reached", tool)
