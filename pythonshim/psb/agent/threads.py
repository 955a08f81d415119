"""One call of the Toolkit, awaited: it blocks a thread of its own, and no executor's."""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any, Callable, Optional, TypeVar

from psb.agent.stopping import Stop, stopping

T = TypeVar("T")


async def awaited(do: Callable[..., T], *args: Any, **words: Any) -> T:
    """What do(*args, **words) gives. When the awaiting task is cancelled, the request that do waits for is cancelled at the server."""
    loop = asyncio.get_running_loop()
    done: "asyncio.Future[T]" = loop.create_future()
    stop = Stop()

    def settle(value: Optional[T], error: Optional[BaseException]) -> None:
        if done.done():  # nobody waits any more
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(value)  # type: ignore[arg-type]

    def work() -> None:
        stopping.set(stop)  # a thread begins with a context of its own
        value, error = None, None
        try:
            value = do(*args, **words)
        except BaseException as e:
            error = e
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:  # the loop is closed
            pass

    threading.Thread(target=work, name="psb-call", daemon=True).start()
    try:
        return await done
    except asyncio.CancelledError:
        stop.stop()
        raise


def in_loop(handler: Optional[Callable[[str], Any]]) -> Optional[Callable[[str], Any]]:
    """A handler that is called in the loop of who awaits, and awaited where it is a coroutine. The thread of the call waits for it, and gets what it
    returns and its exceptions."""
    if handler is None:
        return None
    loop = asyncio.get_running_loop()
    taken = handler

    async def take(text: str) -> Any:
        said = taken(text)
        return await said if inspect.isawaitable(said) else said

    return lambda text: asyncio.run_coroutine_threadsafe(take(text), loop).result()
