"""psb.partial: what the calling half makes of a box's words, without a box."""

from __future__ import annotations

import os
import socket
import threading
import unittest
from types import SimpleNamespace
from typing import Any

from psb import codec
from psb.errors import RulePermissionError, SandBoxError, SandBoxProtocolError
from psb.partial import marks, prints, snippet, wire
from psb.partial.box import Box
from psb.partial.call import Call
from psb.partial.denials import sandbox_denials


def out(value: object, number: int = 1) -> codec.Frame:
    return codec.Frame(wire.OUT, number, bytes(codec.encode(value)[0])[20:], ())


class Prints(unittest.TestCase):
    def test_each_message_of_prints_costs_its_caller_something(self) -> None:
        call, frame = Call(), out([(1, "")])
        most = wire.OUT_WAITING // (wire.OUT_COST + len(frame.body))
        for _ in range(most):
            call.put(frame)
        with self.assertRaisesRegex(SandBoxProtocolError, "faster than its caller takes it"):
            call.put(frame)
        call.take()
        self.assertEqual(call.waiting, wire.OUT_COST + len(frame.body))  # of the one that was refused
        call.put(frame)

    def test_messages_of_no_prints_are_refused(self) -> None:
        box: Any = Box.__new__(Box)
        call = Call()
        box._calls, box._abandoned, box._lock = {1: call}, set(), threading.Lock()
        box._take(out([(1, "")]))
        self.assertEqual(len(call.take()), 1)
        for empty in (out([]), out(None), codec.Frame(wire.OUT, 1, b"", ())):
            with self.assertRaisesRegex(SandBoxProtocolError, "of the kind"):
                box._take(empty)
        with self.assertRaisesRegex(SandBoxProtocolError, "prints of no form"):
            prints.checked([])


class Entered(unittest.TestCase):
    """Which calls the box entered: it writes, its caller reads."""

    def setUp(self) -> None:
        self.marks = marks.Marks()
        self.addCleanup(self.marks.close)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self.marks.hand_over(ours)
            self.box = marks.taken(theirs)
        self.addCleanup(os.close, self.box)

    def test_a_call_has_begun_once_the_box_says_so(self) -> None:
        for number in (1, 2, marks._SLOTS - 1, marks._SLOTS, 1 << 40):
            self.assertFalse(self.marks.has(number))
            marks.mark(self.box, number)
            self.assertTrue(self.marks.has(number))
        self.assertFalse(self.marks.has(3))

    def test_a_call_whose_slot_a_later_one_took_has_begun(self) -> None:
        marks.mark(self.box, 5)
        self.assertFalse(self.marks.has(5 + marks._SLOTS))
        marks.mark(self.box, 5 + marks._SLOTS)
        self.assertTrue(self.marks.has(5))

    def test_the_box_can_neither_cut_it_off_nor_make_it_grow(self) -> None:
        self.assertFalse(os.get_inheritable(self.box))
        for size in (0, marks._SLOTS * marks._SIZE + 1):
            self.assertRaises(PermissionError, os.ftruncate, self.box, size)
        self.assertRaises(PermissionError, os.pwrite, self.box, b"x", marks._SLOTS * marks._SIZE)

    def test_a_caller_that_is_gone_hands_nothing_over(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            ours.close()
            self.assertRaises(EOFError, marks.taken, theirs)


class Variables(unittest.TestCase):
    def told(self, value: object) -> Any:
        call = Call()
        call.put(codec.Frame(wire.RESULT, 0, bytes(codec.encode(value)[0])[20:], ()))
        box: Any = SimpleNamespace(starting=call, budget=codec.Budget(), report={})
        return snippet._variables(box, ["a"], "")

    def test_variables_and_why_others_are_none_arrive(self) -> None:
        self.assertEqual(self.told({"a": (True, 1)}), ({"a": 1}, {}))
        self.assertEqual(self.told({"a": (False, "why")}), ({}, {"a": "why"}))

    def test_what_is_neither_is_refused(self) -> None:
        for bad in ((False, 1 << 100_000), (1, 2), (None, "x"), (False, None), (True,), [True, 1]):
            with self.assertRaisesRegex(SandBoxProtocolError, "not asked for"):
                self.told({"a": bad})


class Denials(unittest.TestCase):
    def test_denials_of_a_wrong_type_are_none(self) -> None:
        for wrong in (7, "read /x", None, {"read /x": 1}, [1, None]):
            e = RulePermissionError("no")
            e.denials = wrong  # type: ignore[assignment]
            self.assertEqual(sandbox_denials(e), ["RulePermissionError: no"])
        e.denials = ("read /x", 3, "read /x")  # type: ignore[assignment]
        self.assertEqual(sandbox_denials(e), ["read /x"])
        self.assertEqual(sandbox_denials(SandBoxError("crash")), [])

    def test_a_refusal_that_cannot_be_shown_is_told_all_the_same(self) -> None:
        class RuleOdd(SandBoxError):
            def __str__(self) -> str:
                raise ValueError

        self.assertEqual(len(sandbox_denials(RuleOdd())), 1)


if __name__ == "__main__":
    unittest.main()
