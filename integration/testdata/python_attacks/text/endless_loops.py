# Plain loops.
#: exec bounded iiiiii max_iterations|timeout|max_alloc
while True:
    pass
#--
for i in iter(int, 1):
    pass
#--
for i in data:
    data.append(i)
#--
def g():
    while True:
        yield
for _ in g():
    pass
#--
[0 for a in range(10 ** 6) for b in range(10 ** 6)]
#--
async def f():
    while True:
        pass
try:
    f().send(None)
finally:
    pass
