# Sixty small lists, whose text, comparison or copy has 2**60 parts.
#: exec bounded iiiiiiiii max_alloc|timeout
a = [1]
for i in range(60):
    a = [a, a]
str(a)
#--
a = [1]
for i in range(60):
    a = [a, a]
f"{a}"
#--
a = [1]
for i in range(60):
    a = [a, a]
"%s" % a
#--
a, b = [1], [1]
for i in range(60):
    a, b = [a, a], [b, b]
a == b
#--
a = (1,)
for i in range(60):
    a = (a, a)
hash(a)
#--
a = (1,)
for i in range(60):
    a = (a, a)
{a: 1}
#--
a = {}
for i in range(60):
    a = {0: a, 1: a}
repr(a)
#--
a, b = [1], [1]
for i in range(60):
    a, b = [a, a], [b, b]
a in [b]
#--
a = [1]
for i in range(60):
    a = [a, a]
print(a)
