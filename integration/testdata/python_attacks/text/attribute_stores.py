# Attributes are not set, by no spelling.
#: exec wide ssssssss attribute|syntax
tool.left = 1
print("reached", tool)
#--
del tool.kept
print("reached", tool)
#--
tool.kept += 1
print("reached", tool)
#--
for tool.left in [1]:
    print("reached", tool)
#--
[0 for tool.left in [1]]
print("reached", tool)
#--
(tool.left, x) = 1, 2
print("reached", tool)
#--
tool.left: int = 1
print("reached", tool)
#--
import contextlib
with contextlib.nullcontext(1) as tool.left:
    print("reached", tool)
