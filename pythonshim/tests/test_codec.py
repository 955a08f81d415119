"""psb.codec: what travels arrives, what is hostile ends in SandBoxProtocolError."""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import os
import pathlib
import pickle
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import typing
import unittest
import uuid
from types import SimpleNamespace
from typing import Any, Dict, List, Optional, Tuple, cast
from unittest.mock import patch

from psb import codec, codec_loaded, codec_types
from psb.errors import (
    EvalSyntaxRejected,
    RuleApiPermissionError,
    RulePermissionError,
    SandBoxBaseExceptionError,
    SandBoxCrashed,
    SandBoxError,
    SandBoxProtocolError,
    Violation,
)
from psb.raised import RemoteTraceback

codec_loaded.load_all()


class Colour(enum.Enum):
    RED = 1


class Bits(enum.Flag):
    A = 1
    B = 2


class Level(enum.IntEnum):
    LOW = 1


@dataclasses.dataclass
class Point:
    x: int
    colour: Colour
    ran: typing.ClassVar[List[str]] = []

    def __post_init__(self) -> None:
        self.ran.append("post_init")


@dataclasses.dataclass(frozen=True)
class Line:
    points: List[Point]
    level: Optional[Level] = None


Pair = collections.namedtuple("Pair", "a b")


class Odd(Exception):
    made: List[str] = []

    def __init__(self, where: str, size: int) -> None:
        super().__init__(f"odd at {where}")
        self.made.append(where)
        self.where = where
        self.size = size


def again(value: Any, *hints: Any) -> Any:
    return codec.loads(codec.dumps(value), codec.known_of(*hints).get)


PLAIN: List[Any] = [
    None, True, False, 0, -1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**4000, -(10**4000),
    1.5, -0.0, float("inf"), 2 - 1j,
    "", "é", "a\ud800b", "\0", "x" * 70_000, "\udfff" * 70_000, b"", b"\0\xff", b"y" * 70_000, bytearray(b"z"), bytearray(70_000),
    [], [1] * 20, [1, 2.5] * 20, [True] * 20, [0.5] * 50_000, list(range(50_000)), [2**70] * 20,
    (), (1, (2, (3,))), tuple(range(100)), (0.25,) * 17,
    set(), {1, "a"}, set(range(100)), frozenset({2.5}), frozenset(range(70_000)), {}, {"b": 1, "a": 2}, {(1, 2): [3], None: {}},
    range(3), range(10, 0, -3), slice(None), slice(1, "x", 2.5), ...,
    datetime.date(2020, 2, 29), datetime.datetime(2020, 1, 2, 3, 4, 5, 6),
    datetime.datetime(2021, 10, 31, 2, 30, tzinfo=datetime.timezone.utc, fold=1),
    datetime.time(23, 59, 59, 999999), datetime.timedelta(days=-3, microseconds=7), datetime.timezone.utc,
    datetime.timezone(datetime.timedelta(hours=-3, minutes=-30)), datetime.timezone(datetime.timedelta(hours=1), "CET"),
    decimal.Decimal("1.50"), decimal.Decimal("-Infinity"), decimal.Decimal("1E+999999"), fractions.Fraction(-3, 7), uuid.UUID(int=7),
    pathlib.Path("a/b"), pathlib.PurePosixPath("/x"), pathlib.PureWindowsPath("c:\\x"),
    ipaddress.ip_address("10.0.0.1"), ipaddress.ip_address("::1"), ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_interface("fe80::1/64"),
    collections.OrderedDict([("b", 1), ("a", 2)]), collections.Counter("aab"), collections.deque([1, 2], 5), collections.deque(), collections.defaultdict(None, {1: 2}),
    array.array("d", [1, 2]), array.array("B", b"ab"), array.array("b"), time.gmtime(0),
]  # fmt: skip


class Travels(unittest.TestCase):
    def test_plain_values_arrive_as_what_they_were(self) -> None:
        for value in PLAIN:
            with self.subTest(value=repr(value)[:60]):
                back = again(value)
                self.assertIs(type(back), type(value))
                self.assertEqual(back, value)
                self.assertEqual(repr(back)[:200], repr(value)[:200])

    def test_integers_of_any_size_arrive(self) -> None:
        self.assertTrue(again(-(1 << 600_001)) == -(1 << 600_001))

    def test_nan_arrives(self) -> None:
        self.assertNotEqual(*[again(float("nan"))] * 2)
        self.assertTrue(again(decimal.Decimal("sNaN")).is_snan())

    def test_order_of_dicts_is_kept(self) -> None:
        self.assertEqual(list(again({"z": 1, "a": 2, "m": 3})), ["z", "a", "m"])
        self.assertEqual(again(collections.deque([1, 2], 5)).maxlen, 5)

    def test_memoryviews_keep_format_and_shape(self) -> None:
        for view in (memoryview(b"abcdefgh").cast("i"), memoryview(bytes(24)).cast("B", (2, 3, 4)), memoryview(b""), memoryview(bytes(100_000))):
            back = again(view)
            self.assertIs(type(back), memoryview)
            self.assertEqual((back.format, back.shape, back.tobytes()), (view.format, view.shape, view.tobytes()))

    @unittest.skipIf(sys.version_info < (3, 9), "no zoneinfo before 3.9")
    def test_zones_travel_by_key(self) -> None:
        import zoneinfo

        try:
            zone = zoneinfo.ZoneInfo("Europe/Paris")
        except zoneinfo.ZoneInfoNotFoundError:
            self.skipTest("this system has no time zones")
        at = datetime.datetime(2020, 7, 1, tzinfo=zone)
        self.assertEqual(again(at).tzinfo.key, "Europe/Paris")

    def test_shared_references_become_copies(self) -> None:
        one: List[int] = []
        back = again([one, one])
        self.assertEqual(back, [[], []])
        self.assertIsNot(back[0], back[1])

    def test_known_classes_are_built_without_their_init(self) -> None:
        line = Line([Point(1, Colour.RED)], Level.LOW)
        Point.ran.clear()
        back = again(line, Line)
        self.assertEqual(back, line)
        self.assertIs(back.points[0].colour, Colour.RED)
        self.assertIs(back.level, Level.LOW)
        self.assertEqual(Point.ran, [])
        self.assertEqual(again(Pair(1, [2]), Optional[Pair]), Pair(1, [2]))
        self.assertEqual(again(Bits.A | Bits.B, Dict[str, Bits]), Bits.A | Bits.B)

    def test_other_classes_arrive_as_records(self) -> None:
        back = again(Point(1, Colour.RED))
        self.assertIs(type(back), codec.Record)
        self.assertEqual((back.kind, back.name, back.x), ("dataclass", __name__ + ":Point", 1))
        self.assertEqual(back.colour.fields, {"name": "RED", "value": 1})
        self.assertEqual(again(back), back)
        self.assertRaises(AttributeError, lambda: back.y)
        self.assertEqual(again(Pair(1, 2)).fields, {"a": 1, "b": 2})

    def test_registered_types_arrive(self) -> None:
        class Own:
            def __init__(self, n: int) -> None:
                self.n = n

        codec.register(Own, lambda o: o.n, Own, name="test:own")
        self.assertEqual(again([Own(7)])[0].n, 7)
        self.assertRaises(TypeError, codec.register, Own, lambda o: o.n)

    def test_what_has_no_plain_form_is_refused_by_name(self) -> None:
        class Text(str):
            pass

        for value, words in (
            (object(), "cannot send a value of type object"),
            (lambda: 1, "cannot send a value of type function"),
            (Text("x"), "Text: it has no plain form; psb.codec.register("),
            (collections.defaultdict(list), "defaultdict with a factory"),
            (memoryview(b"abcd")[::2], "do not follow each other"),
            (open, "cannot send a value of type builtin_function_or_method"),
        ):
            with self.assertRaisesRegex(TypeError, words.replace("(", r"\(")):
                codec.dumps([value])

    def test_cycles_are_refused_and_depth_is_bounded(self) -> None:
        loop: List[Any] = []
        loop.append({"a": (loop,)})
        with self.assertRaisesRegex(TypeError, "a list that contains itself|a dict that contains itself|a tuple that contains itself"):
            codec.dumps(loop)
        deep: List[Any] = []
        for _ in range(150):
            deep = [deep]
        self.assertEqual(again(deep), deep)
        for _ in range(100):
            deep = [deep]
        with self.assertRaisesRegex(ValueError, "nested more than 200 deep"):
            codec.dumps(deep)

    def test_big_buffers_pass_a_socket_uncopied_and_whole(self) -> None:
        a, b = socket.socketpair()
        with a, b:
            big = os.urandom(50_000_000)
            sent = [big, bytearray(big[:9_000_001]), "x" * 3_000_000, list(range(1_000_000))]
            parts = codec.encode(sent)
            self.assertTrue(any(isinstance(p, memoryview) and p.obj is big for p in parts))
            t = threading.Thread(target=codec.send_parts, args=(a, parts))
            t.start()
            self.assertEqual(codec.recv(b), sent)
            t.join()
            t = threading.Thread(target=lambda: [codec.send(a, n) for n in range(100)])
            t.start()
            self.assertEqual([codec.recv(b) for _ in range(100)], list(range(100)))
            t.join()
            many = [os.urandom(70_000) for _ in range(2_000)]
            t = threading.Thread(target=codec.send, args=(a, many))
            t.start()
            self.assertEqual(codec.recv(b), many)
            t.join()
            a.close()
            self.assertRaises(EOFError, codec.recv, b)

    def test_numpy_arrays_and_scalars_arrive(self) -> None:
        try:
            import numpy as np
        except ImportError:
            self.skipTest("no numpy for this interpreter")
        for value in (
            np.arange(10), np.zeros((3, 4), "f4"), np.zeros((0, 3)), np.ones((500, 500))[::2].T, np.array(5),
            np.array(["a", "bcd"]), np.array([b"x"]),
            np.array(["2020-01-01"], "M8[D]"), np.array([True, False]), np.arange(3, dtype=">i4"), np.zeros(2, "c16"), np.array([""]),
        ):  # fmt: skip
            back = again(value)
            self.assertIs(type(back), np.ndarray)
            self.assertEqual((back.dtype, back.shape), (value.dtype, value.shape))
            self.assertTrue(np.array_equal(back, value))
            self.assertTrue(back.flags.writeable or not back.size)
        for scalar in (np.float64(2.5), np.int8(-1), np.bool_(True), np.datetime64("2020-01-01"), np.str_("ab")):
            self.assertEqual(again(scalar), scalar)
            self.assertIs(type(again(scalar)), type(scalar))
        for bad in (np.array([object()]), np.zeros(2, [("a", "i4")])):
            self.assertRaises(TypeError, codec.dumps, bad)


class Exceptions(unittest.TestCase):
    def raised(self, e: BaseException) -> BaseException:
        try:
            raise e
        except BaseException as x:
            return x

    def test_class_arguments_and_attributes_arrive_and_no_init_runs(self) -> None:
        e = self.raised(Odd("here", 3))
        e.extra = {"a": [1]}  # type: ignore[attr-defined]
        e.thing = object()  # type: ignore[attr-defined]
        Odd.made.clear()
        back = again(e)
        self.assertIs(type(back), Odd)
        self.assertEqual((back.args, str(back), back.where, back.size, back.extra), (("odd at here",), "odd at here", "here", 3, {"a": [1]}))
        self.assertIn("object object at", back.thing)
        self.assertEqual(Odd.made, [])

    def test_built_in_errors_keep_their_fields(self) -> None:
        for e in (
            FileNotFoundError(2, "no", "/a", None, "/b"), OSError(13, "x"), OSError("text"), StopIteration(3),
            KeyError("k"), ModuleNotFoundError("m", name="n", path="p"), UnicodeDecodeError("utf-8", b"abc", 0, 1, "why"),
            UnicodeEncodeError("ascii", "é", 0, 1, "why"), SyntaxError("m", ("f", 1, 2, "t")), ZeroDivisionError(),
        ):  # fmt: skip
            back = again(e)
            self.assertIs(type(back), type(e))
            self.assertEqual((str(back), back.args), (str(e), e.args))
            for name in ("errno", "filename", "filename2", "value", "name", "path", "object", "lineno", "reason"):
                self.assertEqual(getattr(back, name, None), getattr(e, name, None), name)

    def test_psb_refusals_keep_what_they_say(self) -> None:
        e = RuleApiPermissionError("no")
        e.qualname, e.category, e.hint, e.denials = "os.system", "process-exec", "add it", ["call os.system"]
        back = again(e)
        self.assertEqual((back.qualname, back.category, back.hint, back.denials), (e.qualname, e.category, e.hint, e.denials))
        r = EvalSyntaxRejected("no")
        r.violations = [Violation(1, 0, "call", "open", "")]
        self.assertEqual(again(r, Violation).violations, r.violations)

    def test_chains_notes_and_the_traceback_arrive(self) -> None:
        try:
            try:
                try:
                    raise ValueError("first")
                except ValueError:
                    raise KeyError("second")
            except KeyError as e:
                raise Odd("third", 1) from e
        except Odd as e:
            if hasattr(e, "add_note"):
                e.add_note("a note")
            back = again(e)
        self.assertEqual(repr(back.__cause__), "KeyError('second')")
        self.assertTrue(back.__suppress_context__)
        self.assertIs(back.__context__, back.__cause__)
        self.assertEqual(repr(back.__cause__.__context__), "ValueError('first')")
        self.assertEqual(getattr(back, "__notes__", ["a note"]), ["a note"])
        self.assertIs(type(back.__cause__.__context__.__cause__), RemoteTraceback)
        self.assertIn('raise Odd("third", 1) from e', back.__psb_traceback__)
        self.assertIn("test_chains_notes_and_the_traceback_arrive", str(back.__cause__.__context__.__cause__))

    def test_cyclic_chains_end(self) -> None:
        a, b = ValueError("a"), ValueError("b")
        a.__context__ = b
        b.__cause__ = a
        back = again(a)
        n = 0
        while back is not None and n < 10:
            back, n = back.__cause__ or back.__context__, n + 1
        self.assertLess(n, 10)

    def test_unknown_classes_become_empty_ones_below_the_nearest_base(self) -> None:
        before = set(sys.modules)
        back = codec.loads(_renamed(Odd("x", 1)))
        self.assertEqual((type(back).__name__, type(back).__bases__, back.where), ("Odd", (Exception,), "x"))
        self.assertEqual(set(sys.modules), before)

    def test_no_base_exception_arrives_as_itself(self) -> None:
        for e, name, code in ((SystemExit(3), "SystemExit", 3), (KeyboardInterrupt(), "KeyboardInterrupt", None), (GeneratorExit(), "GeneratorExit", None)):
            back = again(e)
            self.assertIs(type(back), SandBoxBaseExceptionError)
            self.assertEqual((back.name, back.code), (name, code))

    def test_errors_that_read_memory_by_their_own_numbers_are_checked(self) -> None:
        e = UnicodeDecodeError("utf-8", b"abc", 0, 1, "why")
        e.args = ("utf-8", b"abc", -(2**40), 1 - 2**40, "why")
        self.assertIs(type(again(e)), ValueError)
        e.args = ("utf-8", "abc", 0, 1, "why")
        self.assertIs(type(again(e)), ValueError)

    @unittest.skipIf(sys.version_info < (3, 11), "no groups before 3.11")
    def test_groups_arrive_with_their_members(self) -> None:
        group = sys.modules["builtins"].ExceptionGroup("g", [ValueError("a"), sys.modules["builtins"].ExceptionGroup("h", [KeyError("b")])])
        back = again(group)
        self.assertEqual(repr(back), repr(group))


    @unittest.skipIf(sys.version_info < (3, 11), "has no exception groups")
    def test_a_member_that_stands_twice_arrives_as_two(self) -> None:
        e = ValueError("a")
        group = sys.modules["builtins"].ExceptionGroup("g", [e, e])
        self.assertEqual(repr(again(group)), repr(group))
        for _ in range(7):
            group = sys.modules["builtins"].ExceptionGroup("g", [group, group])
        self.assertLess(repr(again(group)).count("ExceptionGroup("), 65)


    def test_no_class_is_made_below_one_that_would_run_code(self) -> None:
        ran: List[str] = []

        class Meta(type):
            def __new__(cls, name: str, bases: Any, space: Any) -> Any:
                ran.append(name)
                return super().__new__(cls, name, bases, space)

        class Told(ValueError):
            def __init_subclass__(cls, **_: Any) -> None:
                ran.append(cls.__name__)

        class Made(KeyError, metaclass=Meta):
            pass

        ran.clear()
        for cls in (Told, Made):
            base = cls.__mro__[1]
            codec.register(cls)
            plain = [{"names": ["no.such:Odd", codec_types.name_of(cls), codec_types.name_of(base)], "args": ("a",), "attrs": {"b": 1}}]
            back = codec.loads(_exception(plain))
            self.assertEqual((type(back).__name__, type(back).__mro__[1], back.args, back.b), ("Odd", base, ("a",), 1))
        self.assertEqual(ran, [])

    def test_no_class_with_a_finalizer_is_built(self) -> None:
        ran: List[Any] = []

        def ended(self: Any) -> None:
            ran.append(self)

        made: Dict[str, Any] = {}
        made["EndingEnds"] = type("EndingEnds", (ValueError,), {"__del__": ended, "__module__": __name__})
        made["EndingBelow"] = type("EndingBelow", (made["EndingEnds"],), {"__module__": __name__})
        made["EndingHolds"] = dataclasses.make_dataclass("EndingHolds", ["x"], namespace={"__del__": ended})
        made["EndingHolds"].__module__ = __name__
        made["EndingPair"] = type("EndingPair", (collections.namedtuple("EndingPair", "x"),), {"__del__": ended, "__module__": __name__, "__slots__": ()})
        known = {codec_types.name_of(c): c for c in made.values()}
        for registered in (False, True):
            for c in made.values() if registered else ():
                codec.register(c)
            # Found in a module that is loaded, known to the receiver, registered.
            with patch.dict(vars(sys.modules[__name__]), made):
                for name in ("EndingEnds", "EndingBelow"):
                    names = [codec_types.name_of(c) for c in made[name].__mro__ if issubclass(c, BaseException)]
                    data = _exception([{"names": names, "args": ("a",), "attrs": {"path": "/x"}}])
                    for k in (None, known.get):
                        back = codec.loads(data, k)
                        self.assertEqual((type(back).__name__, type(back).__mro__[1], back.args, vars(back)), (name, ValueError, ("a",), {"path": "/x"}))
                    self.assertRaises(SandBoxProtocolError, codec.loads, _message(data[20:] + b"N"), known.get)
            for name, kind in (("EndingHolds", "dataclass"), ("EndingPair", "namedtuple")):
                back = codec.loads(_record(kind, codec_types.name_of(made[name]), {"x": 1}), known.get)
                self.assertEqual((type(back), back.x), (codec.Record, 1))
        del back
        self.assertEqual(ran, [])

    def test_the_words_of_who_started_the_box_are_not_the_box_s(self) -> None:
        class Mine(SandBoxCrashed):
            pass

        for cls in (SandBoxCrashed, SandBoxProtocolError, Mine):
            back = again(cls("the box ended"))
            self.assertEqual((type(back), back.args), (SandBoxError, ("the box ended",)))
        self.assertIs(type(again(RulePermissionError("no"))), RulePermissionError)


def _record(kind: str, name: str, plain: Any) -> bytes:
    from psb.codec_put import Writer

    return _message(b"r" + bytes(Writer(100).write((kind, name))) + bytes(Writer(100).write(plain)))


def _exception(plain: List[Dict[str, Any]]) -> bytes:
    from psb.codec_put import Writer

    return _message(b"e" + bytes(Writer(100).write(plain)))


def _renamed(e: BaseException) -> bytes:
    """The message of an exception whose class the receiver has never heard of."""
    from psb.codec_put import Writer
    from psb.raised import to_plain

    plain = to_plain(e)
    plain[0]["names"][0] = "no.such.module:Odd"
    return _message(b"e" + bytes(Writer(100).write(plain)))


def _message(body: bytes, *buffers: bytes) -> bytes:
    head = struct.pack("<3sBIIQ", b"psb", 0, len(buffers), len(body), 0)
    return head + b"".join(struct.pack("<Q", len(b)) for b in buffers) + body + b"".join(buffers)


class Hostile(unittest.TestCase):
    def refused(self, data: bytes, words: str = "", budget: codec.Budget = codec.Budget()) -> None:
        with self.assertRaisesRegex(SandBoxProtocolError, words):
            codec.loads(data, None, budget)

    def test_pickles_are_no_messages(self) -> None:
        class Evil:
            def __reduce__(self) -> Any:
                return os._exit, (7,)

        self.refused(pickle.dumps(Evil()), "no message of psb|ends before its head")
        self.refused(_message(pickle.dumps(Evil())), "unknown tag")

    def test_lengths_are_not_believed(self) -> None:
        self.refused(b"")
        self.refused(_message(b""), "ends before its value")
        self.refused(_message(b"[\xff\xff\xff\xff"), "ends before its value")
        self.refused(_message(b"{\xff\xff\xff\x7fNN"), "ends before its value")
        self.refused(_message(b"b\xff\xff\xff\xff"), "ends before its value")
        self.refused(_message(b"NN"), "goes on after its value")
        self.refused(_message(b"N", b"x" * 70_000), "does not use")
        self.refused(_message(b"\xe2\x01\0\0\0", b"x"), "not its next one")
        self.refused(_message(b"(\x02\0\0\0" + b"\xe2\0\0\0\0" * 2, b"x"), "not its next one")
        self.refused(struct.pack("<3sBIIQ", b"psb", 0, 0xFFFFFFFF, 0, 0), "bigger than")
        self.refused(struct.pack("<3sBIIQ", b"psb", 0, 1, 1, 0) + struct.pack("<Q", 1 << 62) + b"N", "bigger than")

    def test_budgets_hold(self) -> None:
        self.refused(_message(b"[\x01\0\0\0" * 300 + b"N"), "nested more than")
        self.refused(_message(b"r" * 300 + b"N"), "nested more than")
        many = _message(b"[" + struct.pack("<I", 200_000) + b"<\0\0\0\0" * 200_000)
        self.refused(many, "bigger than its receiver allows", codec.Budget(size=40_000_000))
        self.refused(codec.dumps(b"x" * 100_000), "bigger than", codec.Budget(size=99_999))

    def test_texts_cost_what_they_take(self) -> None:
        import tracemalloc

        # One wide character makes each of its text four bytes, a character above 0xFF two.
        for end in ("\U0001f600", "\u0100"):
            text = "a" * 3_000_000 + end
            for data in (_message(b"s" + struct.pack("<I", len(text.encode())) + text.encode()), codec.dumps(text), codec.dumps([text[-1000:]] * 3000)):
                tracemalloc.start()
                self.refused(data, "bigger than its receiver allows", codec.Budget(size=len(data) + 10_000))
                self.assertLess(tracemalloc.get_traced_memory()[1], 3 * len(data))
                tracemalloc.stop()
                codec.loads(data, None, codec.Budget(size=6 * len(data)))
        self.assertEqual(again("é" * 70_000), "é" * 70_000)

    def test_flags_keep_no_combination_that_a_peer_made_up(self) -> None:
        many = enum.IntFlag("Many", "A B C")
        bits = enum.Flag("Wide", [f"B{i}" for i in range(40)])
        for cls in (many, bits):
            cls.__module__ = __name__
        known = {codec_types.name_of(c): c for c in (many, bits)}.get

        def flag(cls: Any, value: int) -> Any:
            return codec.loads(_record("enum", codec_types.name_of(cls), {"name": None, "value": value}), known)

        two = many(3)
        before = len(many._value2member_map_)
        self.assertIs(flag(many, 3), two)
        for i in range(1, 2000):
            self.assertEqual(flag(many, 1 | i << 4), many(1) | i << 4 if i < 3 else 1 | i << 4)
        self.assertLess(len(many._value2member_map_), before + 20)
        self.assertIs(flag(bits, 3), bits(3))
        with self.assertRaisesRegex(SandBoxProtocolError, "combinations of a"):
            for i in range(1, 1 << 12):
                flag(bits, 5 + (i << 3))
        self.assertLess(len(bits._value2member_map_), 1 << 11)
        self.assertIs(flag(bits, 3), bits(3))

    def test_arrays_of_a_huge_type_are_none(self) -> None:
        class numpy:
            # What of numpy the reader may ask for; nothing of the sizes below is ever made.
            class dtype:
                def __init__(self, code: str) -> None:
                    self.itemsize = int(code[2:] or 0) * (4 if code[1] == "U" else 1)

            frombuffer = None
            str_, bytes_ = str, bytes

            @staticmethod
            def zeros(n: int, code: str) -> Any:
                return SimpleNamespace(reshape=lambda shape: (code, shape))

        from psb.codec_put import Writer

        def array(code: str, shape: Tuple[int, ...]) -> bytes:
            return _message(b"n" + bytes(Writer(9).write((code, shape))) + b"a\0\0\0\0")

        with patch.dict(sys.modules, {"numpy": cast(Any, numpy)}):
            for code in ("<U999999999", "|S9", "<f8"):
                self.refused(_record("numpy", code, b""), "without its bytes")
            self.assertEqual([codec.loads(_record("numpy", c, b"")) for c in ("<U0", "|S0")], ["", b""])
            for code, shape in (("<U999999999", (0,)), ("<f8", (0, 1 << 40)), ("<f8", (1 << 20, 0, 1 << 20))):
                self.refused(array(code, shape), "bigger than its receiver allows")
            self.assertEqual(codec.loads(array("<f8", (0, 3))), ("<f8", (0, 3)))

    def test_keys_that_were_chosen_to_clash_are_refused(self) -> None:
        from psb.codec_put import Writer

        # Equal hashes; and a long way through slots that are taken, which every later key has to go.
        p, mask, way = (1 << 61) - 1, (1 << 20) - 1, [0]
        for _ in range(300_000):
            way.append((5 * way[-1] + 1) & mask)
        for keys in ([n * p for n in range(60_000)], [*way, *(n << 20 for n in range(1, 100_000))]):
            body = b"".join(bytes(Writer(9).write(k)) + b"N" for k in keys)
            self.refused(_message(b"{" + struct.pack("<I", len(keys)) + body), "chosen to clash")
        body = b"".join(bytes(Writer(9).write(n * p)) for n in range(60_000))
        for tag in (b"<", b">"):
            self.refused(_message(tag + struct.pack("<I", 60_000) + body), "chosen to clash")
        self.assertEqual(again({n * p: None for n in range(900)}), {n * p: None for n in range(900)})
        honest = {n << 40 for n in range(100_000)}
        self.assertEqual(again(honest), honest)
        self.assertEqual(again(dict.fromkeys(map(str, honest))), dict.fromkeys(map(str, honest)))
        self.refused(_message(b"{\x02\0\0\0" + b"NN" * 2), "one key twice")

    def test_values_that_make_no_sense_are_refused(self) -> None:
        def form(name: str, plain: bytes) -> bytes:
            return _message(b"x" + bytes([len(name)]) + name.encode() + plain)

        self.refused(form("builtins:range", b"N"), "no value")
        self.refused(form("datetime:date", codec.dumps((1, 2, 99))[20:]), "no value")
        if sys.version_info >= (3, 9):
            self.refused(form("zoneinfo:ZoneInfo", codec.dumps("../../etc/passwd")[20:]), "no value")
        self.refused(form("array:array", codec.dumps(("O", b"xxxxxxxx"))[20:]), "no value")
        self.refused(form("fractions:Fraction", codec.dumps((1, 0))[20:]), "no value")
        self.refused(_message(b"<\x01\0\0\0[\0\0\0\0"), "no value")
        self.refused(_message(b"n" + codec.dumps(("|O8", (1,)))[20:] + b"a\x08\0\0\0" + bytes(8)), "no plain type")
        self.refused(_message(b"m" + codec.dumps(("P", (2,)))[20:] + b"b\x04\0\0\0" + bytes(4)), "no value")

    def test_no_message_makes_its_reader_import_a_module(self) -> None:
        messages = [codec.dumps(v) for v in (uuid.UUID(int=1), fractions.Fraction(1, 2), ValueError("x"))]
        key = codec.dumps("Made/Up")[20:]
        zones = [_message(b"x\x11zoneinfo:ZoneInfo" + key), _message(b"x\x11zoneinfo:ZoneInfo" + codec.dumps("tzdata")[20:])]
        program = """
import sys
from psb import codec, codec_loaded, codec_types
if LOADED:
    codec_loaded.load_all()
sys.path.insert(0, sys.argv[1])
for data in MESSAGES:
    print(type(codec.loads(data)).__name__)
for data in ZONES:
    try:
        print(type(codec.loads(data)).__name__)
    except codec.SandBoxProtocolError:
        print("refused")
"""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("uuid", "fractions", "zoneinfo", "tzdata", "weakref", "traceback"):
                with open(os.path.join(folder, name + ".py"), "w") as f:
                    f.write("print('imported by the message')\n")
            for loaded in (False, True):
                words = [sys.executable, "-c", f"LOADED, MESSAGES, ZONES = {loaded, messages, zones}\n{program}", folder]
                out = subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")
                here = ["UUID", "Fraction"] if loaded else ["Record", "Record"]
                zone = "refused" if loaded and sys.version_info >= (3, 9) else "Record"
                self.assertEqual(out, [*here, "ValueError", zone, zone, ""])

    def test_a_program_s_module_of_a_standard_name_is_not_used(self) -> None:
        data = codec.dumps(uuid.UUID(int=1))
        real, cached = sys.modules["uuid"], codec_loaded._found.pop("uuid", None)
        sys.modules["uuid"] = type(sys)("uuid")
        try:
            self.assertEqual(codec.loads(data), codec.Record("value", "uuid:UUID", (1,)))
        finally:
            sys.modules["uuid"] = real
            if cached is not None:
                codec_loaded._found["uuid"] = cached

    def test_forged_classes_are_not_found(self) -> None:
        back = codec.loads(codec.dumps(codec.Record("dataclass", "subprocess:Popen", {"args": "true"})))
        self.assertIs(type(back), codec.Record)
        self.refused_known({"x": 1, "other": 2})
        self.refused_known({"__class__": 1})

    def refused_known(self, fields: Dict[str, Any]) -> None:
        data = codec.dumps(codec.Record("dataclass", __name__ + ":Point", fields))
        with self.assertRaisesRegex(SandBoxProtocolError, "other fields"):
            codec.loads(data, {__name__ + ":Point": Point}.get)

    def test_forged_exceptions_run_nothing(self) -> None:
        from psb.codec_put import Writer

        def forged(**fields: Any) -> bytes:
            plain = [{"names": ["builtins:ValueError"], "args": (), "attrs": {}, **fields}]
            return _message(b"e" + bytes(Writer(100).write(plain)))

        for names in (["os:system"], ["subprocess:Popen"], ["builtins:int"], ["builtins:SystemExit"], [__name__ + ":os"]):
            self.assertIs(type(codec.loads(forged(names=names))), SandBoxBaseExceptionError)
        back = codec.loads(forged(attrs={"__class__": 1, "with_traceback": 1, "args": 2, "ok": 3, "__notes__": [1]}))
        self.assertEqual((type(back), back.args, back.ok, callable(back.with_traceback)), (ValueError, (), 3, True))
        for bad in (dict(names=[]), dict(names="x"), dict(args=1), dict(attrs=[]), dict(cause=9), dict(cause="a"), dict(attrs={1: 2})):
            self.refused(forged(**bad), "exception of no form")

    def test_exceptions_that_are_members_twice_are_refused(self) -> None:
        from psb.codec_put import Writer

        def nested(*members: List[int]) -> bytes:
            groups = [{"names": ["builtins:ExceptionGroup"], "args": ("g",), "attrs": {}, "members": m} for m in members]
            return _message(b"e" + bytes(Writer(100).write([*groups, {"names": ["builtins:ValueError"], "args": (), "attrs": {}}])))

        self.refused(nested([1, 1]), "member of groups twice")
        self.refused(nested([1, 2], [2]), "member of groups twice")
        self.assertIsInstance(codec.loads(nested([1], [2])), Exception)

    def test_a_message_cut_short_is_no_message(self) -> None:
        data = codec.dumps([b"x" * 70_000, "a"])
        for cut in (1, 19, 20, 30, 40, 70_000):
            a, b = socket.socketpair()
            with b:
                a.sendall(data[:cut])
                a.close()
                self.assertRaises(SandBoxProtocolError, codec.recv, b)

    def test_random_and_mutated_messages_give_a_value_or_the_protocol_error(self) -> None:
        seed = int(os.environ.get("PSB_FUZZ_SEED", "1"))
        rounds = int(os.environ.get("PSB_FUZZ_ROUNDS", "6000"))
        r = random.Random(seed)
        small = [v for v in PLAIN if len(codec.dumps(v)) < 2_000]
        whole = [*small, Point(1, Colour.RED), Line([Point(1, Colour.RED)]), Pair(1, 2), ValueError("x"), OSError(2, "n", "/f")]
        whole += [UnicodeDecodeError("u", b"a", 0, 1, "r"), small]
        seeds = [codec.dumps(v) for v in whole]
        known = codec.known_of(Line, Pair, Bits).get
        budget = codec.Budget(size=1 << 22)
        tags = bytes(range(0x20, 0x7F)) + bytes((0xE2, 0xE1, 0xF3, 0xC9))
        for i in range(rounds):
            if i % 8 == 0:
                data = _message(bytes(r.choice(tags) for _ in range(r.randrange(1, 60))))
            else:
                body = bytearray(r.choice(seeds))
                for _ in range(r.randrange(1, 6)):
                    at = r.randrange(len(body))
                    what = r.randrange(4)
                    if what == 0:
                        body[at] = r.randrange(256)
                    elif what == 1:
                        body[at] = r.choice(tags)
                    elif what == 2:
                        del body[at : at + r.randrange(1, 9)]
                    else:
                        body[at:at] = body[at : at + r.randrange(1, 30)]
                    if not body:
                        break
                data = _message(bytes(body[20:])) if r.randrange(3) else bytes(body)
            try:
                value = codec.loads(data, known, budget)
            except SandBoxProtocolError:
                continue
            repr(value)[:100]
            codec.dumps(value) if not isinstance(value, memoryview) else None


if __name__ == "__main__":
    unittest.main()
