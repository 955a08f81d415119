import multiprocessing
import os
import sys


def work(queue, n):
    queue.put((n * 2, multiprocessing.current_process().name.split("-")[0], "ctypes" in sys.modules))


def square(n):
    return n * n


def fails(n):
    raise KeyError(n)


if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        c = multiprocessing.get_context(method)
        queue = c.Queue()
        p = c.Process(target=work, args=(queue, 21))
        p.start()
        print(method, queue.get())
        p.join()
        with c.Pool(2) as pool:
            print(pool.map(square, range(4)), pool.apply_async(square, (5,)).get(), p.exitcode)
            try:
                pool.apply(fails, ("x",))
            except KeyError as e:
                print(type(e).__name__, e, "fails" in str(e.__cause__))
    with multiprocessing.Manager() as manager:
        d = manager.dict(a=1)
        d["b"] = 2
        print(d.copy())
    left, right = multiprocessing.Pipe()
    left.send({"k": [1, 2]})
    print(right.recv(), multiprocessing.Value("i", 3).value, os.getpid() == multiprocessing.current_process().pid)
