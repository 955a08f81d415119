"""A session: a box that stays between calls, with its variables, imports and files."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Type

from psb.agent.answers import Result
from psb.agent.files import Files
from psb.agent.shells import Shell
from psb.agent.tasks import Task
from psb.errors import SandBoxError

if TYPE_CHECKING:
    from psb.agent.toolkit import Toolkit


class SessionInfo(NamedTuple):
    """`state` is idle, busy, paused, lost or closed. `generation` counts its boxes: another one has other state. It ends in `expires_in_s`
    seconds unless it is used."""

    id: str
    state: str
    generation: int
    lost: bool
    lost_why: str
    profile: str
    idle_s: float
    expires_in_s: float


class ClosedSessions(NamedTuple):
    """Sessions by their names: those that were closed, and those in which a call runs and which are left."""

    closed: List[str]
    busy: List[str]


class Session:
    """A session by its name. It is made with its first run, and belongs to its Toolkit; `with` closes it."""

    def __init__(self, kit: "Toolkit", id: str) -> None:
        self._kit = kit
        self.id = id
        self.files = Files(kit, id)

    def __repr__(self) -> str:
        return f"<Session {self.id}>"

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], e: Optional[BaseException], where: Optional[TracebackType]) -> None:
        try:
            self.close()
        except SandBoxError:  # it was not made, or is over
            pass

    def run_python(self, code: str, **arguments: Any) -> Result:
        """As Toolkit.run_python; what the code leaves is there in the next call."""
        return self._kit.run_python(code, session=self.id, **arguments)

    def run_command(self, command: str, **arguments: Any) -> Result:
        """As Toolkit.run_command, beside the session's files. Each command has a shell of its own; shell() has one that keeps its state."""
        return self._kit.run_command(command, session=self.id, **arguments)

    run_shell = run_command

    def shell(self, name: str = "shell") -> Shell:
        """A shell that keeps working folder, variables and functions between commands; several by name."""
        return Shell(self, name)

    def start_python(self, code: str, **arguments: Any) -> Task:
        return self._kit.start_python(code, session=self.id, **arguments)

    def start_command(self, command: str, **arguments: Any) -> Task:
        return self._kit.start_command(command, session=self.id, **arguments)

    def info(self) -> SessionInfo:
        return session_of(self._ask("info"))

    def reset(self) -> SessionInfo:
        """The same name with a fresh box."""
        return session_of(self._ask("reset"))

    def interrupt(self) -> None:
        """End what runs, and keep the state."""
        self._ask("interrupt")

    def pause(self) -> SessionInfo:
        """Nothing of it runs until it is resumed."""
        return session_of(self._ask("pause"))

    def resume(self) -> SessionInfo:
        return session_of(self._ask("resume"))

    def close(self) -> None:
        """End its box; nothing of it is left."""
        self._ask("close")

    def _ask(self, action: str) -> Dict[str, Any]:
        a = self._kit.call("session", {"action": action, "session": self.id})
        if not a.ok:
            raise SandBoxError(f"psb: session {self.id}: {a.text}")
        return a.data


def session_of(d: Dict[str, Any]) -> SessionInfo:
    def number(name: str) -> float:
        v = d.get(name)
        return float(v) if isinstance(v, (int, float)) else 0.0

    return SessionInfo(
        str(d.get("id", "")),
        str(d.get("state", "")),
        int(number("generation")),
        d.get("state_lost") is True,
        str(d.get("lost_why", "")),
        str(d.get("profile", "")),
        number("idle_s"),
        number("expires_in_s"),
    )


def closed_of(d: Dict[str, Any]) -> ClosedSessions:
    def names(name: str) -> List[str]:
        v = d.get(name)
        return [str(x) for x in v] if isinstance(v, list) else []

    return ClosedSessions(names("closed"), names("busy"))
