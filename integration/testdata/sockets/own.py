"""Everything a program does with sockets of its own: each line "ok NAME" is one thing that works as without psb. argv: a folder it may write."""
import asyncio
import contextlib
import errno
import logging.handlers
import multiprocessing
import multiprocessing.managers
import os
import signal
import socket
import socketserver
import struct
import sys
import threading
import time

folder = os.path.abspath(sys.argv[1])
home = os.getcwd()
private = f"/tmp/own-{os.getpid()}"
os.mkdir(private)
patient = 60


def listener(address, family=socket.AF_UNIX, backlog=300, kind=socket.SOCK_STREAM):
    s = socket.socket(family, kind)
    s.bind(address)
    s.listen(backlog)
    return s


def uid_of_peer(s):
    return struct.unpack("3i", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]


def talk(bound, named, family=socket.AF_UNIX, kind=socket.SOCK_STREAM):
    """One connection, blocking and not; peer authentication both ways, as a database server does it: the ids must be equal."""
    with listener(bound, family, kind=kind) as server:
        for timeout in (None, 0, patient):
            with socket.socket(family, kind) as client:
                client.settimeout(timeout)
                flags = client.getblocking()
                client.connect(named)
                assert client.getblocking() == flags
                client.setblocking(True)
                peer, _ = server.accept()
                with peer:
                    assert uid_of_peer(peer) == os.getuid() and uid_of_peer(client) == os.getuid()
                    client.sendall(b"ping")
                    assert peer.recv(4) == b"ping"


@contextlib.contextmanager
def standing_in(path):
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(home)


def private_folder():
    talk(private + "/s", private + "/s")


def granted_folder():
    talk(folder + "/granted.sock", folder + "/granted.sock")
    os.unlink(folder + "/granted.sock")


def abstract():
    talk("\0own" + str(os.getpid()), "\0own" + str(os.getpid()))


def seqpacket():
    talk(private + "/q", private + "/q", kind=socket.SOCK_SEQPACKET)


def relative():
    deep = private + "/" + "d" * 90 + "/" + "e" * 90
    os.makedirs(deep)
    with standing_in(deep):
        talk("long", "long")
        talk("../up", "../up")
        os.symlink("up2", private + "/" + "d" * 90 + "/link")
        talk("../up2", "../link")


def own_process():
    with standing_in(private):
        talk("cwd", "/proc/self/cwd/cwd")
        held = os.open(private, os.O_PATH)
        talk("held", f"/proc/self/fd/{held}/held")
        talk("pid", f"/proc/{os.getpid()}/cwd/pid")


def many_links():
    os.symlink(private, private + "/loop")
    talk(private + "/t", private + "/loop/loop/t")


def nobody_there():
    for path, want in ((private + "/none", errno.ENOENT), (private + "/s/x", errno.ENOTDIR), (private, errno.ECONNREFUSED), (private + "/s", errno.ECONNREFUSED)):
        with socket.socket(socket.AF_UNIX) as s:
            assert s.connect_ex(path) == want, (path, want)
    # One that was left behind in the granted folder: servers look whether somebody is there before they take its place.
    listener(folder + "/stale").close()
    with socket.socket(socket.AF_UNIX) as s:
        assert s.connect_ex(folder + "/stale") == errno.ECONNREFUSED
    os.unlink(folder + "/stale")
    with listener(private + "/type"), socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        assert s.connect_ex(private + "/type") == errno.EPROTOTYPE
    with listener(private + "/bound"), socket.socket(socket.AF_UNIX) as s:
        s.connect(private + "/bound")
        assert s.connect_ex(private + "/bound") == errno.EISCONN
    with listener(private + "/mode"), socket.socket(socket.AF_UNIX) as s:
        os.chmod(private + "/mode", 0)
        assert s.connect_ex(private + "/mode") == (0 if os.getuid() == 0 else errno.EACCES)


def manager():
    with multiprocessing.Manager() as m:
        d = m.dict()
        p = multiprocessing.Process(target=d.__setitem__, args=("a", 1))
        p.start()
        p.join()
        assert d["a"] == 1


def pool():
    with multiprocessing.get_context("spawn").Pool(2) as p:
        assert p.map(abs, range(-4, 0)) == [4, 3, 2, 1]


def asyncio_unix():
    async def main():
        async def answer(reader, writer):
            writer.write((await reader.readline()).upper())
            await writer.drain()
            writer.close()

        for path in (private + "/a", folder + "/a"):
            server = await asyncio.start_unix_server(answer, path)

            async def ask():
                reader, writer = await asyncio.open_unix_connection(path)
                writer.write(b"hello\n")
                assert await reader.readline() == b"HELLO\n"
                writer.close()

            await asyncio.gather(*(ask() for _ in range(50)))
            server.close()
            os.path.exists(path) and os.unlink(path)

    asyncio.run(main())


def asyncio_tcp():
    async def main():
        async def answer(reader, writer):
            writer.write(await reader.readline())
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]

        async def ask():
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"hello\n")
            assert await reader.readline() == b"hello\n"
            writer.close()

        await asyncio.gather(*(ask() for _ in range(50)))
        server.close()

    asyncio.run(main())


def tcp():
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        if family == socket.AF_INET6 and not os.path.exists("/proc/net/if_inet6"):
            continue
        with socket.socket(family) as server:
            server.bind((host, 0))
            server.listen()
            for timeout in (None, patient):
                with socket.create_connection(server.getsockname()[:2], timeout) as client:
                    peer, address = server.accept()
                    assert address == client.getsockname()
                    peer.close()
            with socket.socket(family) as client:
                client.setblocking(False)
                assert client.connect_ex(server.getsockname()) in (0, errno.EINPROGRESS)
            closed = server.getsockname()[:2]
        with socket.socket(family) as client:
            assert client.connect_ex(closed) == errno.ECONNREFUSED


def udp_dissolved():
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as a:
        a.connect(("127.0.0.1", 9))
        a.getpeername()
        assert libc.connect(a.fileno(), b"\0" * 16, 16) == 0
        try:
            a.getpeername()
            raise AssertionError("still connected")
        except OSError as e:
            assert e.errno == errno.ENOTCONN


def wrong_arguments():
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    unix, (r, w) = socket.socket(socket.AF_UNIX), os.pipe()
    for want, args in (
        (errno.EBADF, (999, b"\1\0x", 3)),
        (errno.ENOTSOCK, (r, b"\1\0x", 3)),
        (errno.EFAULT, (unix.fileno(), ctypes.c_void_p(8), 16)),
        (errno.EINVAL, (unix.fileno(), b"\1\0x", -1)),
        (errno.EINVAL, (unix.fileno(), b"\1\0x" + b"x" * 300, 200)),
        (errno.EINVAL, (unix.fileno(), b"\1\0", 2)),
        (errno.EINVAL, (unix.fileno(), b"\2\0" + b"\0" * 14, 16)),
    ):
        got = ctypes.get_errno() if libc.connect(*args) != 0 else 0
        assert got == want, (args, got, want)


def threaded_server():
    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            self.wfile.write(self.rfile.readline()[::-1])

    class Server(socketserver.ThreadingUnixStreamServer):
        request_queue_size = 300
        daemon_threads = True

    with Server(private + "/threads", Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        failed = []

        def ask():
            try:
                with socket.socket(socket.AF_UNIX) as s:
                    s.connect(private + "/threads")
                    s.sendall(b"abc\n")
                    assert s.recv(10) == b"\ncba"
            except Exception as e:
                failed.append(e)

        threads = [threading.Thread(target=ask) for _ in range(200)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(patient)
        assert not failed, failed[0]
        server.shutdown()


def full(path):
    """A server whose queue is full: the next connect waits."""
    server = listener(path, backlog=0)
    first = socket.socket(socket.AF_UNIX)
    first.connect(path)
    return server, first


def waits_for_its_turn():
    server, first = full(private + "/full")
    with socket.socket(socket.AF_UNIX) as s:
        s.setblocking(False)
        assert s.connect_ex(private + "/full") == errno.EAGAIN
    clients = [socket.socket(socket.AF_UNIX) for _ in range(8)]
    threads = [threading.Thread(target=c.connect, args=(private + "/full",)) for c in clients]
    for t in threads:
        t.start()
    with socket.create_server(("127.0.0.1", 0)) as other, socket.create_connection(other.getsockname()):
        pass  # who waits holds nobody else up
    assert any(t.is_alive() for t in threads)
    for _ in range(9):
        server.accept()
    for t in threads:
        t.join(patient)
        assert not t.is_alive()
    for c in clients:
        c.getpeername()


def waits_as_long_as_told():
    server, first = full(private + "/timed")
    with socket.socket(socket.AF_UNIX) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 200000))
        assert s.connect_ex(private + "/timed") == errno.EAGAIN


def a_signal_ends_the_wait():
    server, first = full(private + "/signal")

    class Rang(Exception):
        pass

    def ring(*_):
        raise Rang

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(private + "/signal")
        raise AssertionError("connected to a full queue")
    except Rang:
        pass


def a_killed_one_is_gone():
    server, first = full(private + "/killed")
    for _ in range(20):
        pid = os.fork()
        if pid == 0:
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(private + "/killed")
            os._exit(0)
        time.sleep(0.01)
        os.kill(pid, signal.SIGKILL)
        assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL
    server.accept()  # the first; of the killed ones nobody comes any more
    server.settimeout(0.3)
    try:
        while True:
            peer, _ = server.accept()
            assert peer.recv(1) == b""
    except socket.timeout:
        pass
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(private + "/killed")


def syslog_carries_on():
    import syslog

    syslog.openlog("own")
    syslog.syslog("nobody hears this")
    log = logging.getLogger("own")
    log.addHandler(logging.handlers.SysLogHandler("/dev/psb-no-such-log"))
    logging.raiseExceptions = False
    log.error("nor this")


for thing in (private_folder, granted_folder, abstract, seqpacket, relative, own_process, many_links, nobody_there, manager, pool, asyncio_unix,
              asyncio_tcp, tcp, udp_dissolved, wrong_arguments, threaded_server, waits_for_its_turn, waits_as_long_as_told, a_signal_ends_the_wait,
              a_killed_one_is_gone, syslog_carries_on):
    if __name__ != "__main__":
        break  # a child that multiprocessing spawned
    try:
        thing()
        print("ok", thing.__name__, flush=True)
    except BaseException as e:
        print("failed", thing.__name__, type(e).__name__, e, flush=True)
