"""What a hostile box may send: the caller gets SandBoxProtocolError, the box is ended, the next call has a new one."""

from __future__ import annotations

import os
import pickle
import socket
import struct
import sys
import threading
import time
import unittest

from psb import SandBoxError, SandBoxProtocolError, codec, sandbox, sandboxes
from psb.partial import wire

HERE = os.path.dirname(os.path.abspath(__file__))
POLICY = os.path.join(HERE, ".py-sandboxes")
ran = []


class Evil:
    def __reduce__(self):
        return ran.append, ("unpickled",)


class Trap(Exception):
    def __new__(cls, *args):
        ran.append("new")
        return super().__new__(cls, *args)

    def __init__(self, *args):
        ran.append("init")

    def __setattr__(self, name, value):
        ran.append("setattr")

    def __setstate__(self, state):
        ran.append("setstate")


def channel():
    """The box's own end of the channel, as code in the box can find it."""
    for fd in range(3, 20):
        try:
            if os.fstat(fd).st_mode & 0o170000 == 0o140000:
                return socket.socket(fileno=os.dup(fd))
        except OSError:
            pass


def message(body, kind=wire.RESULT, number=1, buffers=(), count=None, length=None):
    head = struct.pack("<3sBIIQ", b"psb", kind, len(buffers) if count is None else count, len(body) if length is None else length, number)
    return head + b"".join(struct.pack("<Q", len(b)) for b in buffers) + body + b"".join(buffers)


def clashing(i):
    """A pair whose key has the hash of every other one's."""
    return codec.dumps(i * ((1 << 61) - 1))[20:] + b"N"


def here():
    """The number of the call that runs."""
    frame = sys._getframe()
    while "number" not in frame.f_locals or "frame" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["number"]


RAISED = {"names": ["builtins:ValueError"], "args": (), "attrs": {}}


def whole(value, kind=wire.RESULT, number=1):
    return b"".join(codec.encode(value, kind, number))


def forged(**fields):
    from psb.codec_put import Writer

    body = b"(\x02\0\0\0e" + bytes(Writer(100).write([{**RAISED, **fields}])) + b"[\0\0\0\0"
    return lambda n: message(body, wire.RAISED, n)


ATTACKS = {
    "garbage": lambda n: b"\xff" * 64,
    "a pickle": lambda n: pickle.dumps(Evil()),
    "a pickle as the value": lambda n: message(pickle.dumps(Evil()), number=n),
    "no value": lambda n: message(b"", number=n),
    "too many values": lambda n: message(b"NN", number=n),
    "a length that lies": lambda n: message(b"[\xff\xff\xff\xff", number=n),
    "a body that is too big": lambda n: message(b"", number=n, length=0xFFFFFFFF),
    "more buffers than fit": lambda n: message(b"N", number=n, count=0xFFFFFFFF),
    "a buffer that is too big": lambda n: struct.pack("<3sBIIQQ", b"psb", wire.RESULT, 1, 1, n, 1 << 62) + b"N",
    "nesting without end": lambda n: message(b"[\x01\0\0\0" * 5000 + b"N", number=n),
    "millions of empty sets": lambda n: message(b"[" + struct.pack("<I", 2_500_000) + b"<\0\0\0\0" * 2_500_000, number=n),
    "keys that clash": lambda n: message(b"{" + struct.pack("<I", 60_000) + b"".join(map(clashing, range(60_000))), number=n),
    "an answer to nobody": lambda n: whole(1, number=999_999),
    "the box's start, again": lambda n: whole(None, wire.READY, 0),
    "two answers": lambda n: whole(1, number=n + 1000) + whole(1, number=n),
    "prints of nobody": lambda n: whole([(1, "x")], wire.OUT, 999_999),
    "prints that are none": lambda n: whole([(3, "x")], wire.OUT, n),
    "prints of another form": lambda n: whole({"x": 1}, wire.OUT, n),
    "prints that are too big": lambda n: whole([(1, "x" * (1 << 21))], wire.OUT, n),
    "a kind that is none": lambda n: whole(None, 77, n),
    "the caller's own kinds": lambda n: whole(None, wire.CALL, n),
    "raised what is no exception": lambda n: whole((1, []), wire.RAISED, n),
    "raised nothing": lambda n: whole(None, wire.RAISED, n),
    "an exception without names": forged(names=[]),
    "an exception whose cause is elsewhere": forged(cause=7),
    "an object array": lambda n: message(b"n" + codec.dumps(("|O8", (1,)))[20:] + b"a\x08\0\0\0" + bytes(8), number=n),
    "half a message": None,
}


@sandbox
def attack(name):
    sock = channel()
    if ATTACKS[name] is None:
        sock.sendall(whole(b"x" * 1000, number=here())[:500])
        os._exit(0)
    sock.sendall(ATTACKS[name](here()))
    time.sleep(60)


@sandbox
def raises(names):
    channel().sendall(forged(names=names)(here()))
    time.sleep(60)


@sandbox
def trap():
    e = Exception.__new__(Trap)
    Exception.__setattr__(e, "note", 1)
    raise e


@sandbox
def named(name):
    return codec.Record("dataclass", name, {"args": ("true",)})


@sandbox
def floods():
    sock, number = channel(), here()
    text = whole([(1, "x" * 60_000)], wire.OUT, number)
    while True:
        sock.sendall(text)


@sandbox
def add(a, b):
    return a + b


@sandbox
def silent():
    """Stop reading the channel: its threads are found and kept busy."""
    time.sleep(60)


class Hostile(unittest.TestCase):
    def test_each_attack_is_the_protocol_error_and_the_end_of_the_box(self):
        for name in ATTACKS:
            with self.subTest(attack=name):
                with sandboxes(policy=POLICY):
                    from psb.partial import block as module

                    box = module._block._box
                    with self.assertRaises(SandBoxProtocolError):
                        attack(name)
                    self.assertTrue(box.over.wait(20))
                    self.assertEqual(add(1, 2), 3)
                    self.assertIsNot(module._block._box, box)
        self.assertEqual(ran, [])

    def test_forged_exceptions_are_of_no_class_that_is_none(self):
        with sandboxes(policy=POLICY):
            before = set(sys.modules)
            for names in (["os:system"], ["subprocess:Popen"], ["builtins:SystemExit"], ["builtins:int"], ["antigravity:x"]):
                with self.assertRaises(SandBoxError):
                    raises(names)
            self.assertEqual(set(sys.modules) - before, set())

    def test_no_code_of_an_exception_runs_here(self):
        with sandboxes(policy=POLICY):
            with self.assertRaises(Trap) as caught:
                trap()
        self.assertEqual(caught.exception.__dict__["note"], 1)
        self.assertEqual(ran, [])

    def test_no_class_is_built_for_its_name(self):
        with sandboxes(policy=POLICY):
            self.assertIs(type(named("subprocess:Popen")), codec.Record)
            self.assertIs(type(named("__main__:Evil")), codec.Record)

    def test_prints_without_end_are_bounded_where_nobody_takes_them(self):
        import io

        class Slow(io.TextIOBase):
            def write(self, text):
                gate.wait(60)
                return len(text)

        gate = threading.Event()
        import contextlib

        with sandboxes(policy=POLICY):
            from psb.partial import block as module

            box = module._block._box
            threading.Thread(target=lambda: (box.over.wait(60), gate.set()), daemon=True).start()
            with contextlib.redirect_stdout(Slow()):
                with self.assertRaisesRegex(SandBoxProtocolError, "prints faster than its caller takes it"):
                    floods()

    def test_a_result_may_be_bounded(self):
        with sandboxes(policy=POLICY, budget=codec.Budget(size=100_000)):
            self.assertEqual(add("x" * 1000, ""), "x" * 1000)
            with self.assertRaisesRegex(SandBoxProtocolError, "bigger than 100000 bytes"):
                add("x" * 60_000, "x" * 60_000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
