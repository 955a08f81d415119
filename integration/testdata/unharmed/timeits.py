import timeit

word = "".join
print(type(timeit.timeit("x = word(['a', 'b'])", globals=globals(), number=10)).__name__, len(timeit.repeat("y", "y = 1", number=3, repeat=2)))
print(timeit.main(["-n", "2", "-r", "1", "-s", "import math", "1 / 0"]))
