# A loop whose tasks do not let themselves be cancelled, and work in an executor.
import asyncio
import signal
import time

signal.signal(signal.SIGTERM, lambda *a: None)


def work():
    while True:
        with open("beat", "a") as f:
            f.write("w")
        time.sleep(0.05)


async def stubborn():
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass


async def main():
    task = asyncio.ensure_future(stubborn())
    asyncio.get_running_loop().run_in_executor(None, work)
    print("started\nready", flush=True)
    await asyncio.shield(task)


asyncio.run(main())
