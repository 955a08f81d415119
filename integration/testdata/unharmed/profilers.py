import cProfile
import io
import profile
import pstats
import sys
import trace
import tracemalloc


def work(n):
    return sum(square(i) for i in range(n))


def square(i):
    return i * i


for kind in (cProfile, profile):
    p = kind.Profile()
    print(p.runcall(work, 10))
    stats = pstats.Stats(p, stream=io.StringIO())
    print(sorted(name for (file, _, name), (calls, *_) in stats.stats.items() if file == __file__ and calls > 1))
    p.runctx("work(3)", globals(), {})
tracemalloc.start(5)
held = [bytes(1000) for _ in range(100)]
snapshot = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, __file__)])
print(snapshot.statistics("lineno")[0].count >= 100, tracemalloc.get_object_traceback(held[0])[-1].lineno, tracemalloc.get_traced_memory()[0] > 100_000)
tracemalloc.stop()
t = trace.Trace(count=1, trace=0, ignoredirs=[sys.prefix])
t.runfunc(work, 2)
print(sorted((line, n) for (file, line), n in t.results().counts.items() if file == __file__))
