import concurrent.futures
import threading


def square(n):
    if n == 3:
        raise ValueError("three")
    return n * n


if __name__ == "__main__":
    for pool in (concurrent.futures.ThreadPoolExecutor, concurrent.futures.ProcessPoolExecutor):
        with pool(2) as p:
            print(list(p.map(square, range(3))), repr(p.submit(square, 3).exception()), sum(f.result() for f in concurrent.futures.as_completed([p.submit(square, n) for n in (1, 2)])))
    local = threading.local()
    local.x = 1
    t = threading.Timer(0, lambda: print("timer", hasattr(local, "x")))
    t.start()
    t.join()
