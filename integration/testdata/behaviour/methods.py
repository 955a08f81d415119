# Every start method of multiprocessing with every kind of thing that is shared, for all Pythons from 3.8 on.
import multiprocessing
import signal
import sys
from multiprocessing import shared_memory


def square(n):
    return n * n


def fill(name, queue, pipe, value, lock):
    block = shared_memory.SharedMemory(name)
    block.buf[0] = 42
    block.close()
    with lock:
        value.value += 1
    queue.put("queued")
    pipe.send("piped")


def main():
    for method in ("fork", "spawn", "forkserver"):
        c = multiprocessing.get_context(method)
        with c.Pool(2) as pool:
            print(method, "pool", pool.map(square, range(4)), pool.apply_async(square, (9,)).get(30))
        block = shared_memory.SharedMemory(create=True, size=16)
        queue, value, lock = c.Queue(), c.Value("i", 1), c.RLock()
        mine, theirs = c.Pipe()
        p = c.Process(target=fill, args=(block.name, queue, theirs, value, lock))
        p.start()
        print(method, queue.get(timeout=30), mine.recv(), end=" ")
        p.join()
        print(block.buf[0], value.value, p.exitcode)
        block.close()
        block.unlink()
        with c.Manager() as m:
            d, n = m.dict(a=1), m.Namespace()
            d["b"] = m.list([2])
            n.x = 3
            print(method, "manager", d["a"], list(d["b"]), n.x)
        p = c.Process(target=signal.pause)
        p.start()
        p.kill()
        p.join(30)
        print(method, "killed", p.exitcode)
        sem, barrier, event = c.BoundedSemaphore(1), c.Barrier(1), c.Event()
        print(method, sem.acquire(timeout=1), sem.acquire(timeout=0), barrier.wait(30), event.is_set())
    sys.stdout.flush()


if __name__ == "__main__":
    main()
