# A decorator is a call that no call node shows.
#: exec wide sss call
def text(c):
    return "print('reached')"
@eval
@text
class a:
    pass
#--
def text(c):
    return "print('reached')"
@exec
@text
def a():
    pass
#--
def name(c):
    return path
@print
@open
@name
class a:
    pass
print("reached")
