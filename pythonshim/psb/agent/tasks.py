"""A run in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, NamedTuple, Optional

from psb.agent.answers import Result
from psb.errors import SandBoxError

if TYPE_CHECKING:
    from psb.agent.toolkit import Toolkit

_WAIT = 30  # seconds of one question; the server takes at most 50


class TaskStatus(NamedTuple):
    """`status` is working, completed, failed or cancelled; completed says nothing of the program's own end, wait() does."""

    id: str
    tool: str
    status: str
    seconds: float
    printed_bytes: int

    @property
    def over(self) -> bool:
        return self.status != "working"


class Logs(NamedTuple):
    """What was printed, stdout and stderr as they came. `next_cursor` goes on from there; `evicted_bytes` before it were dropped."""

    text: str
    next_cursor: int
    evicted_bytes: int
    over: bool


class Task:
    """A run that goes on when the call is over. It ends with its Toolkit; what it came to is kept for half an hour."""

    def __init__(self, kit: "Toolkit", id: str) -> None:
        self._kit = kit
        self.id = id
        self._result: Optional[Result] = None

    def __repr__(self) -> str:
        return f"<Task {self.id}>"

    def status(self) -> TaskStatus:
        return status_of(self._ask("status"))

    def logs(self, cursor: int = 0, tail: Optional[int] = None) -> Logs:
        """From a byte on, or the last `tail` lines. A piece comes at a time: next_cursor has more where it is not the end."""
        d = self._ask("logs", tail=tail) if tail is not None else self._ask("logs", cursor=cursor)
        return Logs(str(d.get("text", "")), int(d.get("next_cursor", 0)), int(d.get("evicted_bytes", 0)), d.get("status") != "working")

    def follow(self) -> Iterator[str]:
        """What is printed, as it comes, until the run is over."""
        cursor, over = 0, False
        while True:
            part = self.logs(cursor)
            if part.text:
                yield part.text
            if part.next_cursor == cursor:
                if over:  # it was, before this question: nothing can have come since
                    return
                if not part.over:
                    self._wait(0.2)
            cursor, over = part.next_cursor, part.over

    def wait(self, timeout: Optional[float] = None) -> Optional[Result]:
        """The result, or None after so many seconds."""
        left = timeout
        while True:
            r = self._wait(_WAIT if left is None else min(_WAIT, left))
            if r is not None or (left is not None and left <= _WAIT):
                return r
            left = None if left is None else left - _WAIT

    def result(self) -> Result:
        """The result, however long it takes."""
        r = self.wait()
        assert r is not None
        return r

    def send(self, text: str, close: bool = False) -> None:
        """To the standard input of the program; close ends it."""
        self._ask("send", text=text, close=close)

    def cancel(self) -> TaskStatus:
        """End it, with its whole box."""
        return status_of(self._ask("cancel"))

    def _wait(self, seconds: float) -> Optional[Result]:
        if self._result is None:
            a = self._kit.call("task", {"action": "wait", "task": self.id, "timeout_s": seconds})
            if not isinstance(a, Result):
                return None
            self._result = a
        return self._result

    def _ask(self, action: str, **more: Any) -> Dict[str, Any]:
        a = self._kit.call("task", {"action": action, "task": self.id, **more})
        if not a.ok:
            raise SandBoxError(f"psb: task {self.id}: {a.text}")
        return a.data


def status_of(d: Dict[str, Any]) -> TaskStatus:
    seconds = d.get("seconds")
    return TaskStatus(str(d.get("task", "")), str(d.get("tool", "")), str(d.get("status", "")), float(seconds) if isinstance(seconds, (int, float)) else 0.0, int(d.get("printed_bytes", 0)))
