"""Opens fifty streams of asyncio at once, half by one name and half by another. argv: names with ports."""
import asyncio
import sys


async def talk(number, place):
    host, port = place.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    await reader.readline()
    writer.write(b"number %d\n" % number)
    line = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return line.decode().strip()


async def main():
    places = sys.argv[1:]
    return await asyncio.gather(*(talk(n, places[n % len(places)]) for n in range(50)))


print(*asyncio.run(main()), sep="\n")
