# Every way the standard library runs work elsewhere: pools of each start method, a manager, queues, shared memory, asyncio, threads.
import asyncio
import concurrent.futures
import multiprocessing
import multiprocessing.shared_memory
import sys


def square(n):
    return n * n


def fill(queue):
    queue.put("from a process")


async def children():
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(input()[::-1])", stdin=-1, stdout=-1)
    out, _ = await child.communicate(b"abc\n")
    print("asyncio", out, child.returncode)
    shell = await asyncio.create_subprocess_shell("exit 5")
    print("shell", await shell.wait())
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(600)")
    child.terminate()
    print("terminated", await child.wait())
    many = [await asyncio.create_subprocess_exec(sys.executable, "-Sc", "raise SystemExit(%d)" % n) for n in range(4)]
    print("many", [await c.wait() for c in many])
    print("thread", await asyncio.to_thread(square, 9))
    server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    print("server", await reader.read())
    writer.close()


if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            print(method, pool.map(square, range(4)))
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
            print(method, list(executor.map(square, range(4))))
        queue = context.Queue()
        process = context.Process(target=fill, args=(queue,))
        process.start()
        print(method, queue.get())
        process.join()
    with multiprocessing.Manager() as manager:
        shared = manager.dict(a=1)
        shared["b"] = manager.list([2])
        print("manager", dict(shared)["a"], list(shared["b"]))
    memory = multiprocessing.shared_memory.SharedMemory(create=True, size=16)
    memory.buf[0] = 7
    print("memory", memory.buf[0])
    memory.close()
    memory.unlink()
    with concurrent.futures.ThreadPoolExecutor(8) as executor:
        print("threads", sum(executor.map(square, range(100))))
    asyncio.run(children())
