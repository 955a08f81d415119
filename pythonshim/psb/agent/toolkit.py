"""The Toolkit: the tools of one psb mcp as methods, and as schemas for a model."""

from __future__ import annotations

import base64
import binascii
import codecs
import hashlib
import json
import os
import subprocess
from types import TracebackType
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Type, Union

from psb.agent.answers import Answer, File, Kept, Result, answer, kept_of
from psb.agent.asking import OnAsk, answer_to, question_of
from psb.agent.metrics import Meter, Metrics
from psb.agent.server import OnOutput, Piece, Server
from psb.agent.sessions import ClosedSessions, Session, SessionInfo, closed_of, session_of
from psb.agent.tasks import Task, TaskStatus, status_of
from psb.agent.values import as_option, values_text
from psb.errors import SandBoxError, SandBoxProtocolError
from psb.program import find_psb

OnText = Callable[[str], Any]
FilesIn = Mapping[str, Union[str, bytes]]


class Ceiling(NamedTuple):
    """A figure that a call may lower: what it gets without asking, and the most."""

    default: float
    maximum: float


class Toolkit:
    """Tools that run in boxes. It starts one psb mcp, which ends with it; calls may come from any thread, and run beside each other.

    profiles, python, tools, ceilings, slots: options of psb mcp (docs/mcp.md); ceilings={"timeout_s": 60} is --max timeout_s=60; `options` are
    further ones, as words. values are there for all code that runs, by their names; they must have a JSON form.
    on_ask is given what would run, as text, before each run; anything but True declines, and nothing runs. SandBoxError: psb is not there, or refuses to start."""

    def __init__(
        self,
        *,
        psb: Optional[str] = None,
        profiles: Union[str, "os.PathLike[str]", None] = None,
        python: Optional[str] = None,
        values: Optional[Mapping[str, Any]] = None,
        tools: Sequence[str] = (),
        ceilings: Optional[Mapping[str, float]] = None,
        slots: Optional[int] = None,
        on_ask: Optional[OnAsk] = None,
        options: Sequence[str] = (),
        env: Optional[Mapping[str, str]] = None,
    ) -> None:
        self._psb = find_psb(psb, "Toolkit")
        self._env = None if env is None else dict(env)
        self._offer = ["--structured"]
        if profiles is not None:
            self._offer.append(f"--profiles={os.fspath(profiles)}")
        if python is not None:
            self._offer.append(f"--python={python}")
        if tools:
            self._offer.append(f"--tools={','.join(tools)}")
        self._offer += [f"--max={name}={most}" for name, most in (ceilings or {}).items()]
        self._values = values_text(values)
        serving = [] if slots is None else [f"--slots={slots}"]
        self._on_ask = on_ask
        if on_ask is not None:
            serving.append("--ask")
        self._meter = Meter()
        with as_option(self._values) as given:
            self._server = Server([self._psb, "mcp", *self._offer, *given, *serving, *options], env, asks=on_ask is not None)
            try:
                listed = self._server.request("tools/list", {})
            except BaseException:
                self._server.close()
                raise
        self._listed: Dict[str, Dict[str, Any]] = {t["name"]: t for t in listed.get("tools", []) if isinstance(t, dict) and isinstance(t.get("name"), str)}

    def __enter__(self) -> "Toolkit":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], e: Optional[BaseException], where: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """End the server, and every box of it. It may be called twice."""
        self._server.close()

    # For a model.

    @property
    def names(self) -> List[str]:
        """The tools that are offered."""
        return sorted(self._listed)

    def schemas(self, format: str = "openai", strict: bool = False) -> Any:
        """The tools as psb tools prints them: openai, mcp or json."""
        words = [self._psb, "tools", f"--format={format}", *(["--strict"] if strict else []), *self._offer]
        with as_option(self._values) as given:
            told = subprocess.run(words + given, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self._env, start_new_session=True)
        if told.returncode != 0:
            raise SandBoxError(told.stderr.decode("utf-8", "replace").strip() or f"psb: psb tools: exit status {told.returncode}")
        return json.loads(told.stdout)

    def call(self, name: str, arguments: Union[str, Mapping[str, Any]], on_output: Optional[OnOutput] = None) -> Answer:
        """What a model asked for: a tool's name and its arguments, as a mapping or as JSON text. Mistakes of the model are an Answer that is not
        ok, whose text says what is wrong; nulls count as absent. A run's answer is a Result."""
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments or "{}")
            except (ValueError, RecursionError) as e:
                return _no(f"the arguments are no JSON: {e}")
        if not isinstance(arguments, Mapping):
            return _no("the arguments are no JSON object")
        if name not in self._listed:
            return _no(f"no tool {name!r}: there are {', '.join(self.names)}")
        asked = {"name": name, "arguments": {k: v for k, v in arguments.items() if v is not None}}
        with self._meter:
            raw = self._server.request("tools/call", asked, on_output)
            question = question_of(raw)
            if question is not None:
                yes = self._on_ask is not None and self._on_ask(question) is True
                raw = self._server.request("tools/call", {**asked, **answer_to(raw, yes)}, on_output)
            a = answer(raw)
        if isinstance(a, Result):
            self._meter.ran(a)
        return a

    # Runs.

    def run_python(self, code: str, *, on_stdout: Optional[OnText] = None, on_stderr: Optional[OnText] = None, files: Optional[FilesIn] = None, **arguments: Any) -> Result:
        """Run code in a box. `arguments` are run_python's others (docs/mcp.md): timeout_s, memory_mb, stdin, args, return_files, variables, profile, ...
        files maps names to texts or bytes. on_stdout and on_stderr are given what is printed while it runs, in the calling thread."""
        return self._run("run_python", {"code": code, **arguments}, files, on_stdout, on_stderr)

    def run_command(self, command: str, *, on_stdout: Optional[OnText] = None, on_stderr: Optional[OnText] = None, files: Optional[FilesIn] = None, **arguments: Any) -> Result:
        """Run a command with /bin/sh in a box: the tool run_shell."""
        return self._run("run_shell", {"command": command, **arguments}, files, on_stdout, on_stderr)

    run_shell = run_command

    def start_python(self, code: str, *, files: Optional[FilesIn] = None, **arguments: Any) -> Task:
        """The same in the background."""
        return self._start("run_python", {"code": code, **arguments}, files)

    def start_command(self, command: str, *, files: Optional[FilesIn] = None, **arguments: Any) -> Task:
        return self._start("run_shell", {"command": command, **arguments}, files)

    def task(self, id: str) -> Task:
        """A task by its id; whether there is one is asked with its first question."""
        return Task(self, id)

    def tasks(self) -> List[TaskStatus]:
        """All that are known, those that are over included."""
        a = self._answered("task", {"action": "list"})
        return [status_of(d) for d in a.data.get("tasks", []) if isinstance(d, dict)]

    def session(self, id: str) -> Session:
        """A session by its name: 1 to 64 of a-z 0-9 _ -. It is made with its first run."""
        return Session(self, id)

    def sessions(self) -> List[SessionInfo]:
        """Those of this Toolkit that are there."""
        a = self._answered("session", {"action": "list"})
        return [session_of(d) for d in a.data.get("sessions", []) if isinstance(d, dict)]

    def close_sessions(self) -> ClosedSessions:
        """End all that are at rest. Those in which a call runs are left, and told as busy: Session.close() ends them, too."""
        a = self.call("session", {"action": "close_all"})
        if not a.ok and "busy" not in a.data:
            raise SandBoxError(f"psb: session: {a.text}")
        return closed_of(a.data)

    def _run(self, name: str, arguments: Dict[str, Any], files: Optional[FilesIn], on_stdout: Optional[OnText], on_stderr: Optional[OnText]) -> Result:
        if files:
            arguments["files"] = _files(files)
        taken = _Taken(on_stdout, on_stderr) if on_stdout or on_stderr else None
        a = self.call(name, arguments, taken)
        if not isinstance(a, Result):
            raise SandBoxError(f"psb: {name}: {a.text}")
        if taken is not None:
            taken.end()
            a.missed_bytes = taken.missed
        return a

    def _start(self, name: str, arguments: Dict[str, Any], files: Optional[FilesIn]) -> Task:
        if files:
            arguments["files"] = _files(files)
        a = self._answered(name, {**arguments, "background": True})
        return Task(self, str(a.data.get("task", "")))

    def _answered(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        a = self.call(name, arguments)
        if not a.ok:
            raise SandBoxError(f"psb: {name}: {a.text}")
        return a

    # What there is.

    def describe(self, topic: str = "overview", query: Optional[str] = None) -> str:
        """What the sandbox lets code do: overview, limits, profiles, packages, tools or policy, as text."""
        return self._answered("describe", {"topic": topic, "query": query}).text

    def limits(self) -> Dict[str, Ceiling]:
        """What a call may lower, by the names of its arguments."""
        out: Dict[str, Ceiling] = {}
        for tool in ("run_shell", "run_python"):
            properties = self._listed.get(tool, {}).get("inputSchema", {}).get("properties", {})
            for name, p in properties.items():
                if isinstance(p.get("default"), (int, float)) and not isinstance(p["default"], bool) and isinstance(p.get("maximum"), (int, float)):
                    out[name] = Ceiling(p["default"], p["maximum"])
        return out

    @property
    def most_of_a_read(self) -> int:
        """Bytes of one piece of a session's file."""
        most = self._listed.get("file_read", {}).get("inputSchema", {}).get("properties", {}).get("limit", {}).get("maximum")
        return int(most) if isinstance(most, (int, float)) else 1 << 16

    def metrics(self) -> Metrics:
        """What the calls of this Toolkit came to."""
        return self._meter.now()

    def kept(self) -> List[Kept]:
        """What runs of this Toolkit left and what has not gone yet, the newest first."""
        out: List[Kept] = []
        cursor: Any = None
        while True:
            page = self._server.request("resources/list", {} if cursor is None else {"cursor": cursor})
            out += kept_of(page)
            cursor = page.get("nextCursor")
            if not cursor:
                return out

    def fetch(self, file: Union[File, str]) -> bytes:
        """The bytes of a file of a result, or of what a result's text names by its URI. A File's are compared with its SHA-256."""
        uri = file if isinstance(file, str) else file.uri
        if not uri:
            raise SandBoxError(f"psb: this file was not taken along: {file.omitted if isinstance(file, File) else ''}")
        found = self._server.request("resources/read", {"uri": uri}).get("contents")
        first = found[0] if isinstance(found, list) and found and isinstance(found[0], dict) else {}
        try:
            data = first["text"].encode("utf-8") if "text" in first else base64.b64decode(first["blob"], validate=True)
        except (KeyError, AttributeError, TypeError, binascii.Error):
            raise SandBoxProtocolError("psb: psb mcp sent no contents") from None
        if isinstance(file, File) and hashlib.sha256(data).hexdigest() != file.sha256:
            raise SandBoxProtocolError(f"psb: {file.path}: the bytes are others than those of the result")
        return bytes(data)


class _Taken:
    """Gives the output of a run to two handlers, as text."""

    def __init__(self, on_stdout: Optional[OnText], on_stderr: Optional[OnText]) -> None:
        self.missed = 0
        self._to = {"stdout": on_stdout, "stderr": on_stderr}
        make = codecs.getincrementaldecoder("utf-8")
        self._decoders = {name: make("replace") for name in self._to}  # a character may come in two parts

    def __call__(self, piece: Piece) -> None:
        stream, data, missed = piece
        self.missed += missed
        self._give(stream, self._decoders[stream].decode(data))

    def end(self) -> None:
        for stream, decoder in self._decoders.items():
            self._give(stream, decoder.decode(b"", True))

    def _give(self, stream: str, text: str) -> None:
        handler = self._to[stream]
        if text and handler is not None:
            handler(text)


def _files(files: FilesIn) -> List[Dict[str, Any]]:
    out: List[Dict[str, Any]] = []
    for path, content in files.items():
        if isinstance(content, str):
            out.append({"path": path, "content": content})
        else:
            out.append({"path": path, "content": base64.b64encode(content).decode("ascii"), "encoding": "base64"})
    return out


def _no(text: str) -> Answer:
    return Answer({"isError": True, "content": [{"type": "text", "text": f"[psb] refused: {text}"}]})
