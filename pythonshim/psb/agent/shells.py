"""A shell of a session that keeps its state: one bash for each command, which reads what the one before it left and leaves its own.

Where a command ends, and with what status, is the end of its process: nothing that it prints is read for that. What is kept lies in the box, so it is
the program's own word about its own shell."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from psb.agent.answers import Result
from psb.errors import SandBoxError

if TYPE_CHECKING:
    from psb.agent.sessions import Session

# The options come last: what is restored before them must not end the shell. Variables that are read-only from the start refuse, which is no harm.
_BASH = r"""
__psb_keep() {
  { declare -p; declare -f; alias -p; printf 'cd -- %q\n' "$PWD"; shopt -p; set +o; } >"$__psb_state.new" 2>/dev/null && mv -f -- "$__psb_state.new" "$__psb_state"
}
shopt -s expand_aliases
if [ -f "$1" ]; then . "$1" 2>/dev/null; fi
__psb_state=$1 __psb_command=$2
trap __psb_keep EXIT
shift 2
eval "$__psb_command"
"""


class Shell:
    """Working folder, variables, functions, aliases and options stay from one command to the next. A command that replaces the shell (exec), or
    sets a trap on EXIT, leaves the state as it was before."""

    def __init__(self, session: "Session", name: str) -> None:
        if not re.fullmatch("[a-z0-9_-]{1,64}", name):
            raise SandBoxError(f"psb: {name!r} is no name of a shell: 1 to 64 of a-z 0-9 _ - are needed")
        self._session = session
        self._state = f"/tmp/.psb-shell-{name}"
        self.name = name

    def __repr__(self) -> str:
        return f"<Shell {self.name} of {self._session.id}>"

    def run(self, command: str, **arguments: Any) -> Result:
        """As Session.run_command. `args` are $1 and on."""
        words = ["exec", "bash", "--noprofile", "--norc", "-c", _BASH, "shell", self._state, command]
        return self._session.run_command(f"{shlex.join(words)} \"$@\"", **arguments)
