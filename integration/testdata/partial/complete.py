"""The same program under psb as a whole: @sandbox is a plain call, sandboxes() does nothing."""

from __future__ import annotations

import asyncio
import os

from psb import is_in_sandbox, run, sandbox, sandboxes


@sandbox
def pid():
    return os.getpid()


@sandbox
async def pid_async():
    return os.getpid()


async def main():
    async with sandboxes(policy="/no/such"):
        return await pid_async()


if __name__ == "__main__":
    with sandboxes(policy="/no/such", psb="/no/such", files={"x": "read"}):
        print(is_in_sandbox(), pid() == os.getpid(), asyncio.run(main()) == os.getpid(), run(main(), policy="/no/such") == os.getpid())
