# Medium pieces without end, all of them kept.
#: exec bounded iiiiiiiiii max_alloc|timeout
kept = []
for i in range(900000):
    kept.append("x" * 100000)
#--
kept = [[0] * 10000 for i in range(900000)]
#--
kept = {i: bytes(100000) for i in range(900000)}
#--
kept = []
for i in range(900000):
    kept.append(bytearray(100000))
#--
kept = []
for i in range(900000):
    kept.append(list(range(10000)))
#--
kept = []
for i in range(900000):
    kept.append(str(i) * 10000)
#--
kept = []
for i in range(900000):
    kept.append(3 ** 300000 + i)
#--
kept = []
for i in range(900000):
    kept.append(data.copy() * 10000)
#--
kept = []
for i in range(900000):
    kept += [f"{i:50000}"]
#--
kept = ()
for i in range(900000):
    kept = (kept, "x".ljust(100000))
