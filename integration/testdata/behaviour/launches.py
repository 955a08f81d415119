# Not in a box: starts psb (its arguments) as a host does that already has threads, a pool and an event loop.
import asyncio
import concurrent.futures
import subprocess
import sys
import threading

done = threading.Event()
for _ in range(4):
    threading.Thread(target=done.wait, daemon=True).start()


def launch(n):
    r = subprocess.run(sys.argv[1:] + ["-c", "print(1+%d)" % n], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return r.returncode, r.stdout


async def launched(n):
    p = await asyncio.create_subprocess_exec(*sys.argv[1:], "-c", "print(1+%d)" % n, stdout=subprocess.PIPE)
    out, _ = await p.communicate()
    return p.returncode, out


async def several():
    return await asyncio.gather(*map(launched, range(4)))


print("threads", launch(1))
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print("pool", list(pool.map(launch, range(4))))
print("loop", asyncio.run(several()))
done.set()
