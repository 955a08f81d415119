# Constructors over more than memory.
#: eval bounded iiiiiiiiiiiiiii max_alloc|max_iterations|timeout
[0] * 10 ** 11
#--
(0,) * 10 ** 11
#--
bytes(10 ** 12)
#--
bytearray(10 ** 12)
#--
list(range(10 ** 12))
#--
tuple(range(10 ** 12))
#--
set(range(10 ** 12))
#--
dict.fromkeys(range(10 ** 12))
#--
sorted(range(10 ** 12))
#--
[*range(10 ** 12)]
#--
dict(zip(range(10 ** 12), range(10 ** 12)))
#--
b"a" * 10 ** 12
#--
list(map(str, range(10 ** 12)))
#--
{**{i: i for i in range(10 ** 9)}}
#--
(10 ** 6).to_bytes(10 ** 12, "big")
