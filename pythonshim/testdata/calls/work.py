"""Honest work: what learning noted of it is all that it needs."""
import asyncio
import collections
import concurrent.futures
import dataclasses
import doctest
import enum
import logging
import multiprocessing
import multiprocessing.shared_memory
import os
import pickle
import shelve
import subprocess
import sys
import tempfile
import threading
import timeit
import typing
import unittest
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "site-packages"))
import borrowed

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass(order=True)
class Data:
    a: int = 1
    b: "typing.List[int]" = dataclasses.field(default_factory=list)


Color = enum.Enum("Color", "RED GREEN")
Typed = typing.NamedTuple("Typed", [("a", int)])


def twice(x):
    """
    >>> twice(2)
    4
    """
    return x * 2


class Case(unittest.TestCase):
    def test(self):
        with self.assertLogs() as logs, self.assertRaises(ZeroDivisionError):
            logging.getLogger("x").warning("seen")
            1 / 0


def counted(n, queue):
    queue.put(n * n)


async def child():
    p = await asyncio.create_subprocess_exec("/bin/echo", "asyncio", stdout=subprocess.PIPE)
    out, _ = await p.communicate()
    q = await asyncio.create_subprocess_exec("/bin/sleep", "100")
    q.kill()
    return out, await q.wait(), await asyncio.get_running_loop().run_in_executor(None, twice, 5)


def main():
    print(Point(1, 2), Data(), Color.RED, Typed(1), typing.get_type_hints(Data)["b"], Point.__module__, Typed.__module__)
    logging.basicConfig(format="%(filename)s %(funcName)s %(lineno)d %(message)s", stream=sys.stdout)
    logging.warning("logged")
    print(doctest.testmod())
    print(unittest.TextTestRunner(stream=open(os.devnull, "w")).run(unittest.defaultTestLoader.loadTestsFromTestCase(Case)).wasSuccessful())
    print(timeit.timeit("x = 1", number=3) >= 0)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        borrowed.warn()
        print([(os.path.basename(w.filename), w.lineno) for w in seen])
    print(borrowed.compute("1 + x", 2), borrowed.define("def f(): return 7")(), borrowed.caller())
    print(borrowed.start())
    print(subprocess.run(["/bin/echo", "run"], stdout=subprocess.PIPE).stdout, subprocess.call(["/bin/false"]), os.popen("echo popen").read())
    try:
        subprocess.run(["/bin/sleep", "100"], timeout=0.01)
    except subprocess.TimeoutExpired:
        print("timed out")
    print(asyncio.run(child()))
    t = threading.Timer(0, print, ("timer",))
    t.start()
    t.join()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        print(list(pool.map(twice, range(3))))
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        p = context.Process(target=counted, args=(3, queue))
        p.start()
        print(method, queue.get(timeout=60), p.join(), p.exitcode)
        with context.Pool(2) as pool:
            print(pool.map(twice, range(4)))
        with concurrent.futures.ProcessPoolExecutor(1, context) as pool:
            print(list(pool.map(twice, range(3))))
    p = multiprocessing.get_context("fork").Process(target=threading.Event().wait, daemon=True)
    p.start()
    p.terminate()
    p.join()
    m = multiprocessing.shared_memory.SharedMemory(create=True, size=10)
    m.close()
    m.unlink()
    a, b = multiprocessing.Pipe()
    a.send({"sent": 1})
    print(b.recv())
    print(pickle.loads(pickle.dumps([Data(), Point(1, 2), Color.GREEN, len, os.getpid, print])))
    with tempfile.TemporaryDirectory() as d, shelve.open(d + "/shelf") as s:
        s["k"] = Point(3, 4)
        print(s["k"])


if __name__ == "__main__":
    main()
