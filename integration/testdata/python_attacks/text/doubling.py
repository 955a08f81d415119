# Few steps, each within the limit; their sum is not.
#: exec bounded iiiiiiiiiiiiiiiii max_alloc|max_iterations
for i in range(60):
    data.extend(data)
#--
for i in range(60):
    data += data
#--
for i in range(60):
    data[len(data):] = data
#--
for i in range(60):
    data = [*data, *data]
#--
s = "ab"
for i in range(60):
    s = f"{s}{s}"
#--
s = "ab"
for i in range(60):
    s = "%s%s" % (s, s)
#--
s = "ab"
for i in range(60):
    s = "{0}{0}".format(s)
#--
s = "ab"
for i in range(60):
    s = s.replace("a", "aa")
#--
s = "ab"
for i in range(60):
    s = s.join([s, s])
#--
s = "ab"
for i in range(60):
    s = "".join((s, s))
#--
s = "ab"
for i in range(60):
    s += s
#--
n = 3
for i in range(60):
    n *= n
#--
n = 3
for i in range(60):
    n <<= 1000000
    n = n * n
#--
d = {"a": [1] * 1000}
for i in range(60):
    d["a"] *= 2
#--
b = bytearray(b"ab")
for i in range(60):
    b.extend(b)
#--
t = (1,)
for i in range(60):
    t = t + t
#--
def double(*a):
    return a + a
t = (1,)
for i in range(60):
    t = double(*t)
