"""execute(): one text in a box of its own, its output, its end as psb tells it, and variables as values."""

from __future__ import annotations

import os
import sys
import threading
from typing import IO, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from psb import codec
from psb.errors import SandBoxCrashed, SandBoxError, SandBoxProtocolError
from psb.partial import rules as ruling, wire
from psb.partial.block import search_path
from psb.partial.box import CHILD, Box, interpreter
from psb.partial.call import Ended
from psb.program import find_psb

_OUTPUT = 1 << 26  # bytes of each of stdout and stderr


class Execution(NamedTuple):
    """How a text ended. `status` is psb's exit status (124: the wall limit; 128 + n: signal n), `reason` its word for it: exit, signal, wall,
    memory, output, cpu_time. `variables` has what was asked for and there, `errors` why the others are not. What stands in stdout, stderr and
    variables the text chose; status, reason and denials it did not."""

    stdout: str
    stderr: str
    status: int
    reason: str
    variables: Dict[str, Any]
    errors: Dict[str, str]
    denials: List[str]


def execute(
    code: str,
    inspect_variables: Sequence[str] = (),
    *,
    policy: Union[str, "os.PathLike[str]", None] = None,
    python: Optional[str] = None,
    python_args: Sequence[str] = (),
    envs: Optional[Dict[str, str]] = None,
    psb: Optional[str] = None,
    budget: codec.Budget = codec.Budget(),
    **rules: Any,
) -> Execution:
    """Run code as `psb -c` does, under the policy of the working folder, or the named one, or none; rules as in sandboxes().

    SandBoxError: psb refused to start it. SandBoxProtocolError: what came as variables is none."""
    environ = {**os.environ, **(envs or {})}
    words = [find_psb(psb, "sandboxes"), f"--python={interpreter(python)}", "--caller=-"]
    if policy is not None:
        words.append(f"--policy={os.fspath(policy)}")
    words += [f"--allow=env {name}" for name in envs or {}]
    words += [*ruling.words(rules, environ), *python_args, CHILD]
    hello = {"path": search_path(python is not None), "other": python is not None, "code": code, "names": list(inspect_variables)}
    box = Box(words, environ, hello, budget, capture=True)
    out, err = _Taken(box, box.process.stdout), _Taken(box, box.process.stderr)
    try:
        box.over.wait()
    finally:
        if not box.over.is_set():
            box.kill()
    stdout, stderr = out.text(), err.text()
    variables, errors = _variables(box, inspect_variables, stderr)
    status, reason = box.report.get("status"), box.report.get("reason")
    if type(status) is not int or type(reason) is not str:
        raise SandBoxError(f"psb: it ended without a report: {box.ended}")
    if out.flooded or err.flooded:
        reason = "output"
    return Execution(stdout, stderr, status, reason, variables, errors, _denials(box.report))


def _variables(box: Box, names: Sequence[str], stderr: str) -> Tuple[Dict[str, Any], Dict[str, str]]:
    variables: Dict[str, Any] = {}
    errors = {n: "it ended before its variables could be read" for n in names}
    for news in box.starting.take():
        if isinstance(news, Ended):
            if isinstance(news.error, SandBoxCrashed):
                continue
            if isinstance(news.error, SandBoxError) and not isinstance(news.error, SandBoxProtocolError):
                news.error.args = (news.error.args[0].partition(": it said why")[0] + ": " + stderr.strip(),) if not box.report else news.error.args
            raise news.error
        if news.kind != wire.RESULT:
            continue
        found = news.value(None, box.budget)
        if type(found) is not dict or set(found) != set(names) or not all(map(_told, found.values())):
            raise SandBoxProtocolError("psb: the box sent variables that were not asked for")
        errors = {n: text for n, (there, text) in found.items() if not there}
        variables = {n: value for n, (there, value) in found.items() if there}
    return variables, errors


def _told(v: Any) -> bool:
    # (True, a value) or (False, why there is none)
    return type(v) is tuple and len(v) == 2 and (v[0] is True or (v[0] is False and type(v[1]) is str))


def _denials(report: Dict[str, Any]) -> List[str]:
    found = report.get("denials")
    rows = found if isinstance(found, list) else []
    return [f"{d.get('op')} {d.get('object')}" for d in rows if isinstance(d, dict)]


class _Taken:
    """Takes one stream of a box to its end."""

    def __init__(self, box: Box, stream: Optional[IO[bytes]]) -> None:
        self.flooded = False
        self._whole = bytearray()  # not a list of parts: a part may be one byte
        self._box = box
        self._stream = stream
        self._thread = threading.Thread(target=self._take, daemon=True)
        self._thread.start()

    def _take(self) -> None:
        if self._stream is None:
            return
        with self._stream as stream:
            while True:
                part = os.read(stream.fileno(), 1 << 16)
                if not part:
                    return
                if len(self._whole) + len(part) > _OUTPUT:
                    self.flooded = True
                    self._box.kill()
                    return
                self._whole += part

    def text(self) -> str:
        self._thread.join()
        return self._whole.decode("utf-8", "replace")
