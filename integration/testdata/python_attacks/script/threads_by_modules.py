# Every way to a thread is the same door.
#= inside
#: thread RuleApiPermissionError call threading.Thread.start
#: timer RuleApiPermissionError call threading.Thread.start
#: subclass RuleApiPermissionError call threading.Thread.start
#: executor RuleApiPermissionError call threading.Thread.start
#: loop RuleApiPermissionError call threading.Thread.start
#: low RuleApiPermissionError call _thread.start_new_thread
#: old-name RuleApiPermissionError call _thread.start_new_thread
import asyncio
import concurrent.futures
import threading
import _thread
from tries import attempt


class Mine(threading.Thread):
    def run(self):
        pass


def executor():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(int).result()


async def loop():
    return await asyncio.get_running_loop().run_in_executor(None, int)


attempt("thread", lambda: threading.Thread(target=int).start())
attempt("timer", lambda: threading.Timer(0, int).start())
attempt("subclass", lambda: Mine().start())
attempt("executor", executor)
attempt("loop", lambda: asyncio.run(loop()))
attempt("low", lambda: _thread.start_new_thread(int, ()))
attempt("old-name", lambda: _thread.start_new(int, ()))
