"""Fetches pages with aiohttp, ten at once. argv: URLs."""
import asyncio
import sys

import aiohttp


async def main():
    async with aiohttp.ClientSession() as session:
        async def get(url):
            async with session.get(url) as answer:
                return answer.status, (await answer.text()).strip()
        return await asyncio.gather(*(get("%s%d" % (url, n)) for url in sys.argv[1:] for n in range(10)))


print(*asyncio.run(main()), sep="\n")
