# Functions over an iterator that never ends.
#: eval bounded iiiiiiiiiiiiiiiiiii max_alloc|max_iterations|timeout
list(iter(int, 1))
#--
sum(iter(int, 1))
#--
max(iter(int, 1))
#--
10 ** 6 in iter(int, 1)
#--
any(iter(int, 1))
#--
"".join(iter(str, 1))
#--
bytes(iter(int, 1))
#--
set().union(iter(int, 1))
#--
data.extend(iter(int, 1))
#--
print(*iter(int, 1))
#--
[*iter(int, 1)]
#--
dict(enumerate(iter(int, 1)))
#--
list(zip(iter(int, 1), iter(int, 1)))
#--
sorted(iter(int, 1))
#--
min(map(lambda x: x, iter(int, 1)))
#--
all(map(bool, iter(lambda: 1, 0)))
#--
[x for x in iter(int, 1)]
#--
next(filter(None, iter(int, 1)))
#--
len([*map(bool, iter(str, 1))])
