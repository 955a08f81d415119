"""The refusals of the Python layer. Each is a SandBoxError and the built-in error that plain Python would raise there."""

from __future__ import annotations

MYPY = False
if MYPY:  # loaded at a program's first refusal, when its built-ins may be the program's: nothing of the standard library is to run then
    from typing import Any, Sequence, Tuple

    _Base = Tuple[int, int, str, str, str]
else:
    _Base = tuple


class SandBoxError(RuntimeError):
    """A refusal or a failure of psb. `denials` are lines "OP OBJECT"; `hint` says what to do, "" where nothing helps."""

    hint: str = ""
    denials: Sequence[str] = ()


class RulePermissionError(SandBoxError, PermissionError):
    """The policy does not grant a file, a program or a host."""


class RuleModuleNotFoundError(SandBoxError, ModuleNotFoundError):
    """The policy does not grant the import of `name`."""


class RuleApiPermissionError(SandBoxError, PermissionError):
    """The policy does not grant the call of `qualname`, a function of the registry in `category`."""

    qualname: str = ""
    category: str = ""


class Violation(_Base):
    """One construct that an eval profile does not grant; `line` counts from 1, `column` from 0; `fix` is the line to add, "" if none can. A named tuple."""

    __slots__ = ()
    _fields = ("line", "column", "what", "text", "fix")

    def __new__(cls, line: int, column: int, what: str, text: str, fix: str) -> Violation:
        return tuple.__new__(cls, (line, column, what, text, fix))

    def __getnewargs__(self) -> Tuple[int, int, str, str, str]:
        return self[0], self[1], self[2], self[3], self[4]

    def __repr__(self) -> str:
        return "Violation(" + ", ".join([f"{n}={v!r}" for n, v in zip(self._fields, self)]) + ")"

    @property
    def line(self) -> int:
        return self[0]

    @property
    def column(self) -> int:
        return self[1]

    @property
    def what(self) -> str:
        return self[2]

    @property
    def text(self) -> str:
        return self[3]

    @property
    def fix(self) -> str:
        return self[4]


class EvalSyntaxRejected(SandBoxError, SyntaxError):
    """Text that was refused before it ran; `violations` has all of them."""

    violations: Sequence[Violation] = ()

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.msg = str(args[0]) if args else ""  # what a printed traceback shows of a SyntaxError

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class RuleEvalPermissionError(SandBoxError, PermissionError):
    """Text that was refused while it ran: `target` is what it reached for, `key` the policy's key."""

    target: str = ""
    key: str = ""


class EvalInterrupted(BaseException):
    """Text that ran into a limit; `reason` is the limit's key. No Exception, so that guarded text cannot swallow it."""

    reason: str = ""


class SandBoxProtocolError(SandBoxError):
    """The other side of a channel sent what is no message."""


class SandBoxBaseExceptionError(SandBoxError):
    """What ended a call in the box was no Exception (SystemExit, KeyboardInterrupt, ...); `name` is its class."""

    name: str = ""


class SandBoxCrashed(SandBoxError):
    """The box ended during a call; `status` is its exit status as psb reports it."""

    status: Any = None
