# A loop of the interpreter's own that has an end, but not in this century.
#: eval bounded iiiiiii max_alloc|max_iterations|timeout
sum(range(10 ** 12))
#--
max(range(10 ** 12))
#--
min(range(10 ** 12), key=lambda x: 0)
#--
-1.5 in range(10 ** 12)
#--
any(map(bool, [0] * 10 ** 4 * 10 ** 3 * 10 ** 4))
#--
all(range(1, 10 ** 12))
#--
range(10 ** 12).count(1.5)
