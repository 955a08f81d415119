import asyncio
import sys


async def serve(reader, writer):
    line = await reader.readline()
    writer.write(line.upper())
    await writer.drain()
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"hello over the loopback\n")
        print((await reader.readline()).decode().strip())
        writer.close()
        await writer.wait_closed()
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "print(6 * 7)", stdout=asyncio.subprocess.PIPE
    )
    out, _ = await child.communicate()
    print("child said", out.decode().strip(), "and ended with", child.returncode)


asyncio.run(main())
