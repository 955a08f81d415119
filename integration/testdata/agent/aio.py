"""The Toolkit of asyncio before the real server: beside each other, given up, a session that keeps its state, the background."""

from __future__ import annotations

import asyncio
import sys
import unittest
from typing import Any, Awaitable, Callable

from psb.agent import AsyncToolkit


def in_kit(act: Callable[[Any, AsyncToolkit], Awaitable[None]]) -> Callable[[Any], None]:
    async def all_of_it(test: Any) -> None:
        async with AsyncToolkit(slots=4, options=["--warm=1"]) as kit:
            await act(test, kit)

    return lambda test: asyncio.run(all_of_it(test))


class Awaited(unittest.TestCase):
    @in_kit
    async def test_a_call_that_is_given_up_ends_and_its_session_stays(self, kit: AsyncToolkit) -> None:
        one, two = await asyncio.gather(kit.run_python("6 * 7"), kit.run_command("echo beside"))
        self.assertEqual((one.value, two.stdout), ("42", "beside\n"))
        async with kit.session("work") as work:
            await work.run_python("n = 41")
            await work.files.write("in.txt", "one")
            begun = asyncio.Event()
            endless = asyncio.ensure_future(work.run_python("print('on', flush=True)\nimport time\nwhile True: time.sleep(1)", on_stdout=lambda text: begun.set()))
            await begun.wait()
            endless.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await endless
            r = await work.run_python("n + 1, open('in.txt').read()")
            while r.status == "busy":  # until it is interrupted
                r = await work.run_python("n + 1, open('in.txt').read()")
            self.assertEqual(r.value, "(42, 'one')", r.text)
            self.assertEqual((await work.shell().run("echo $PWD")).stdout, "/workspace\n")
        self.assertEqual(await kit.sessions(), [])

    @in_kit
    async def test_the_background(self, kit: AsyncToolkit) -> None:
        task = await kit.start_command("echo ready; read name; echo hello $name")
        await task.send("world\n")
        self.assertEqual("".join([text async for text in task.follow()]), "ready\nhello world\n")
        self.assertTrue((await task.result()).ok)

    @in_kit
    async def test_what_is_asked_before_it_runs(self, _: AsyncToolkit) -> None:
        asked = []

        async def ask(text: str) -> bool:
            await asyncio.sleep(0)
            asked.append(text)
            return len(asked) == 1

        async with AsyncToolkit(on_ask=ask, options=["--cold"]) as kit:
            self.assertEqual(((await kit.run_python("6 * 7")).value, (await kit.run_python("6 * 7")).status), ("42", "refused"))
            self.assertEqual(len(asked), 2)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    unittest.main()
