"""Calls into another process: `partial.py pool|psb calls|threads|out|in|start N` prints the milliseconds of N of them, warm."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor

SIZE = 50_000_000


def call(i):
    return i


def out(n):
    return b"x" * n


def take(data):
    return len(data)


def measured(one, n):
    one(0)
    begin = time.perf_counter()
    for i in range(n):
        one(i)
    return time.perf_counter() - begin


def threaded(one, n):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(100)))
        begin = time.perf_counter()
        list(pool.map(one, range(n)))
        return time.perf_counter() - begin


def work(what, n, call, out, take):
    if what == "calls":
        return measured(call, n)
    if what == "threads":
        return threaded(call, n)
    data = b"y" * SIZE
    return measured(lambda i: out(SIZE), n) if what == "out" else measured(lambda i: take(data), n)


def main(who, what, n):
    if what == "start" and who == "pool":
        import subprocess  # as multiprocessing below: the box's policy has no line for either

        return measured(lambda i: subprocess.run([sys.executable, "-c", "pass"], check=True), n)
    if who == "pool":
        import multiprocessing

        with multiprocessing.Pool(1 if what != "threads" else 2) as pool:
            return work(what, n, *[lambda i, f=f: pool.apply(f, (i,)) for f in (call, out, take)])
    if what == "start":

        def one(i):
            with sandboxes(policy=".py-sandboxes"):
                pass

        return measured(one, n)
    with sandboxes(policy=".py-sandboxes"):
        return work(what, n, *boxed)


if sys.argv[1:2] != ["pool"]:
    from psb import sandbox, sandboxes

    boxed = [sandbox(f) for f in (call, out, take)]
    call, out, take = boxed

if __name__ == "__main__":
    print(main(sys.argv[1], sys.argv[2], int(sys.argv[3])) * 1000)
