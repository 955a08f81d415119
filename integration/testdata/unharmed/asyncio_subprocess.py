import asyncio
import sys


async def child(*args):
    p = await asyncio.create_subprocess_exec(sys.executable, *args, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    out, err = await p.communicate(b"word\n")
    return p.returncode, out, err.splitlines()[-1:]


async def main():
    print(await asyncio.gather(child("-c", "print(input().upper())"), child("-c", "1/0"), child("-c", "import sys; sys.exit(3)")))
    p = await asyncio.create_subprocess_shell("echo $((1 + 2)); exit 4", stdout=asyncio.subprocess.PIPE)
    print((await p.stdout.read()).decode(), await p.wait())
    print(await asyncio.get_running_loop().run_in_executor(None, sum, [1, 2]), await asyncio.to_thread(max, 1, 2) if sys.version_info >= (3, 9) else 2)
    p = await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; print(flush=True); time.sleep(60)", stdout=asyncio.subprocess.PIPE)
    await p.stdout.readline()
    p.terminate()
    print(await p.wait())
    try:
        await asyncio.wait_for(asyncio.sleep(60), 0.01)
    except asyncio.TimeoutError as e:
        print(type(e).__name__)


asyncio.run(main())
