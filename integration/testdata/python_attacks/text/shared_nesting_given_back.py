# The same as a result: who copies it has 2**60 parts.
#: eval bounded i max_alloc|timeout
(lambda a: [a := [a, a] for _ in range(60)][-1])([1])
