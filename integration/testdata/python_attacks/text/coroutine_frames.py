# The same of coroutines and asynchronous generators.
#: exec never spss attribute
async def f():
    pass
c = f()
print("reached", c.cr_frame)
#--
async def f():
    pass
print("reached", getattr(f(), "cr_" + "code"))
#--
async def f():
    yield 1
print("reached", f().ag_frame)
#--
def f():
    yield from (x for x in [1])
g = f()
next(g)
print("reached", g.gi_yieldfrom)
