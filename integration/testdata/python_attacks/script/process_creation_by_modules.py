# Modules that start processes for others.
#| [python.import]
#| "subprocess" = true
#| "pty" = true
#| "multiprocessing" = true
#: run RuleApiPermissionError call subprocess.Popen
#: getoutput RuleApiPermissionError call subprocess.Popen
#: pty RuleApiPermissionError call pty.spawn
#: pty-fork RuleApiPermissionError call pty.fork
#: process-fork RuleApiPermissionError call multiprocessing.Process.start
#: process-spawn RuleApiPermissionError call multiprocessing.Process.start
#: process-forkserver RuleApiPermissionError call multiprocessing.Process.start
#: subclass RuleApiPermissionError call multiprocessing.Process.start
#: popen-subclass RuleApiPermissionError call subprocess.Popen
#: asyncio RuleApiPermissionError call subprocess.Popen
#: executor RuleApiPermissionError call multiprocessing.Process.start
import asyncio
import concurrent.futures
import multiprocessing
import os
import pty
import subprocess
from tries import attempt, canary, cat


def show():
    pass


class Mine(multiprocessing.Process):
    def run(self):
        pass


class Other(subprocess.Popen):
    pass


def start(process):
    process.start()
    process.join()


def executor():
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        return pool.submit(os.getpid).result()


async def child():
    return await (await asyncio.create_subprocess_exec("/bin/cat", canary)).wait()


if __name__ == "__main__":
    attempt("run", lambda: subprocess.run(["/bin/cat", canary]))
    attempt("getoutput", lambda: print(subprocess.getoutput(cat)))
    attempt("pty", lambda: pty.spawn(["/bin/cat", canary]))
    attempt("pty-fork", lambda: os.waitpid(pty.fork()[0] or os._exit(0), 0))
    for way in ("fork", "spawn", "forkserver"):
        attempt("process-" + way, lambda: start(multiprocessing.get_context(way).Process(target=show)))
    attempt("subclass", lambda: start(Mine()))
    attempt("popen-subclass", lambda: Other(["/bin/cat", canary]).wait())
    attempt("asyncio", lambda: asyncio.run(child()))
    attempt("executor", executor)
