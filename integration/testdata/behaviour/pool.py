# A process pool needs POSIX semaphores, and those live in /dev/shm. Prints what the box sees there while a block of its own is open.
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import shared_memory


def square(n):
    return n * n


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        print("POOL", sum(pool.map(square, range(5))))
    block = shared_memory.SharedMemory(sys.argv[1] + "-inside", create=True, size=4096)
    print("there", [n for n in sorted(os.listdir("/dev/shm")) if sys.argv[1] in n])
    print("ready", flush=True)
    sys.stdin.read()
    block.close()
    block.unlink()
