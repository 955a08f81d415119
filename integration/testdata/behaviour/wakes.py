# Wakes event loops from other threads: the byte goes through a socketpair, by send, sendto and sendmsg.
import asyncio
import socket
import threading

ROUNDS = 200


async def main():
    loop = asyncio.get_running_loop()
    for n in range(ROUNDS):
        future = loop.create_future()
        threading.Thread(target=loop.call_soon_threadsafe, args=(future.set_result, n)).start()
        assert await asyncio.wait_for(future, 30) == n
    print("WOKE", ROUNDS)


asyncio.run(main())
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
    a, b = socket.socketpair(socket.AF_UNIX, kind)
    a.send(b"x")
    got = [b.recv(8)]
    a.sendmsg([b"y", b"z"])
    got.append(b.recv(8))
    try:
        a.sendto(b"w", b"/nowhere")
        got.append("sent")
    except OSError as e:
        got.append(e.__class__.__name__)
    print(kind.name, got)
