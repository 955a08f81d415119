"""What one evaluation may use up, counted before it is used."""

from __future__ import annotations

from sys import getsizeof
from time import monotonic
from typing import Optional, Tuple

from psb.errors import EvalInterrupted
from psb.evals.rules import Limits

STRIDE = 64  # turns between two looks at the clock
WIDEST = 4_000_000  # bits of a whole number: above, one product takes C too long
LABOUR = 500_000_000  # steps of C that one division or power of whole numbers may take


class Budget:
    """Turns, bytes, depth and time of one evaluation. Once it is spent, every further count raises again: nothing can swallow the end."""

    __slots__ = ("limits", "turns", "next", "bytes", "depth", "deadline", "ended")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.turns = 0
        self.next = min(STRIDE, limits.max_iterations)
        self.bytes = 0
        self.depth = 0
        self.deadline = monotonic() + limits.timeout
        self.ended: Optional[Tuple[str, str]] = None

    def tick(self) -> None:
        """One turn of a loop."""
        self.turns += 1
        if self.turns > self.next:
            self._look()

    def turn(self, n: int) -> None:
        """n turns that C is about to make."""
        self.turns += n
        if self.turns > self.next:
            self._look()

    def _look(self) -> None:
        if self.ended:
            self.end(*self.ended)
        if self.turns > self.limits.max_iterations:
            self.end("max_iterations", f"more than {self.limits.max_iterations} turns")
        if monotonic() > self.deadline:
            self.end("timeout", f"more than {self.limits.timeout:g} s")
        self.next = min(self.turns + STRIDE, self.limits.max_iterations)

    def charge(self, n: int) -> None:
        """n bytes that are about to be taken."""
        self.bytes += n
        if self.bytes > self.limits.max_alloc:
            self.end("max_alloc", f"more than {self.limits.max_alloc} bytes")

    def bits(self, n: int) -> None:
        """A whole number of n bits that is about to be made."""
        if n > 512:
            if n > WIDEST:
                # n may itself be too long to be written out.
                self.end("max_alloc", f"a whole number of more than {WIDEST} bits")
            self.charge(n >> 3)

    def labour(self, steps: int) -> None:
        """Steps of C that no tick interrupts."""
        if steps > LABOUR:
            self.end("timeout", "arithmetic that nothing can interrupt")

    def end(self, reason: str, what: str) -> None:
        """Raises, now and at every later count."""
        self.ended = (reason, what)
        self.next = -1
        error = EvalInterrupted(f"psb: evaluated text stopped: {what} ({reason})")
        error.reason = reason
        raise error

    def check(self) -> None:
        """Raises again when the end was reached before."""
        if self.ended:
            self.end(*self.ended)


def size(value: object) -> int:
    """Bytes of value itself."""
    return getsizeof(value, 64)
