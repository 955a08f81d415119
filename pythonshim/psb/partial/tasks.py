"""Async calls in the box: tasks of one loop, which has a thread of its own and lives as long as the box."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Awaitable, Callable, Dict

from psb import codec
from psb.partial import prints


class Tasks:
    """The loop. It starts with the first async call or init_fn."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.running: Dict[int, "asyncio.Task[None]"] = {}
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, name="psb-loop", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        if left:
            self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    def begin(self, frame: codec.Frame) -> None:
        """Start a call; any thread."""
        self.loop.call_soon_threadsafe(self._begin, frame)

    def cancel(self, number: int) -> None:
        """Cancel a call where it still runs; any thread."""
        self.loop.call_soon_threadsafe(self._cancel, number)

    def complete(self, function: Callable[[], Awaitable[object]], sink: prints.Sink) -> None:
        """Run an async function to its end from another thread."""

        async def run() -> None:
            prints.current.set(sink)
            await function()

        asyncio.run_coroutine_threadsafe(run(), self.loop).result()

    def end(self) -> None:
        """Cancel what runs, let it end, close the loop."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    def _begin(self, frame: codec.Frame) -> None:
        task = self.loop.create_task(self._call(frame))
        self.running[frame.number] = task
        task.add_done_callback(lambda _: self.running.pop(frame.number, None))

    def _cancel(self, number: int) -> None:
        task = self.running.get(number)
        if task is not None:
            task.cancel()

    async def _call(self, frame: codec.Frame) -> None:
        number, server = frame.number, self.server
        sink = server.sink(number)
        prints.current.set(sink)  # the task's own context
        try:
            function, args, kwargs = server.order(frame)
            server.begun(number)
            value = await function(*args, **kwargs)
        except BaseException as e:
            server.failed(number, e, sink)
        else:
            server.done(number, value, sink)
