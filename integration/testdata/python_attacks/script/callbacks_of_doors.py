# What is called back by a granted function is not granted by it.
#| [python.call]
#| "os.fork" = true
#| "threading.Thread.start" = true
#: hook - call os.system
#: thread RuleApiPermissionError call os.system
#: timer RuleApiPermissionError call os.system
#: executor RuleApiPermissionError call os.system
#: loop RuleApiPermissionError call os.system
import asyncio
import concurrent.futures
import functools
import os
import threading
from tries import attempt, cat

attempt("hook", lambda: [os.register_at_fork(before=functools.partial(os.system, cat)), os.waitpid(os.fork() or os._exit(0), 0)])
kept = []


def run(thread):
    threading.excepthook = lambda a: kept.append(a.exc_value)
    thread.start()
    thread.join()
    if kept:
        raise kept.pop()


attempt("thread", lambda: run(threading.Thread(target=os.system, args=(cat,))))
attempt("timer", lambda: run(threading.Timer(0, os.system, (cat,))))


def executor():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(os.system, cat).result()


async def loop():
    return await asyncio.get_running_loop().run_in_executor(None, os.system, cat)


attempt("executor", executor)
attempt("loop", lambda: asyncio.run(loop()))
