"""What comes back from a tool: psb's own facts, and the program's words, each by its name."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple


class File(NamedTuple):
    """A file of the workspace that a run made or changed; `change` is created, modified or deleted. Its name is the program's word, size and SHA-256
    are not. `uri` is what Toolkit.fetch() takes, "" where it was not taken along (`omitted` says why)."""

    path: str
    size: int
    sha256: str
    mime: str
    change: str
    omitted: str
    uri: str


class Kept(NamedTuple):
    """What a run left and psb keeps for half an hour: a file (files/...), a figure, or output that was cut. `uri` is what Toolkit.fetch() takes."""

    name: str
    uri: str
    mime: str
    size: int


class Variable(NamedTuple):
    """A name or an expression that was asked for. `data` is its value where it has a JSON form; `error` says why there is none."""

    type: str
    repr: str
    data: Any
    error: str
    cut: bool


class Limit(NamedTuple):
    """One limit of a run. None: not asked for, or not known. `held_by` is the kernel, psb, or nothing."""

    name: str
    unit: str
    requested: Optional[float]
    effective: Optional[float]
    ceiling: Optional[float]
    peak: Optional[float]
    held_by: str
    reached: bool


class ProgramError(NamedTuple):
    """The exception that ended the code; the program's word."""

    type: str
    message: str
    traceback: str


class Image(NamedTuple):
    """A figure that was drawn, or an image file of the workspace."""

    mime: str
    data: bytes


class Answer:
    """What a tool answered. `text` is what a model is given, `images` go with it; `data` is the same for programs, as psb mcp --structured tells it."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        content = [c for c in _list(raw.get("content")) if isinstance(c, dict)]
        self.text = "\n".join(_text(c, "text") for c in content if c.get("type") == "text")
        self.images: List[Image] = [Image(_text(c, "mimeType"), _bytes(c.get("data"))) for c in content if c.get("type") == "image"]
        self.ok = raw.get("isError") is not True
        self.data: Dict[str, Any] = _dict(raw.get("structuredContent")) or _dict(_dict(raw.get("_meta")).get("psb/result"))
        self._links = [(_text(c, "uri"), _text(c, "name")) for c in content if c.get("type") == "resource_link"]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {'ok' if self.ok else 'not ok'}: {self.text[-200:]!r}>"


class Result(Answer):
    """A run. status, reason, exit_code, signal, limits, denials, cleanup and the files' hashes are psb's facts; stdout, stderr, value, data_value,
    error and variables are what the program said."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        super().__init__(raw)
        d, exit = self.data, _dict(self.data.get("exit"))
        self.status = _text(d, "status")  # ok, error, timeout, killed, cancelled, busy, refused, internal
        self.reason = _text(d, "reason")
        self.hint = _text(d, "hint")
        self.retry_after_s = _number(d, "retry_after_s")
        self.exit_code: Optional[int] = exit["code"] if type(exit.get("code")) is int else None
        self.signal = _text(exit, "signal")
        self.limit = _text(exit, "reason")  # exit, signal, or the limit that ended it: wall, memory, pids, output, ...
        self.approval = _text(d, "approval")  # accepted, or why nobody was asked; "" where nobody was to be
        self.wall_s = _number(d, "wall_s") or 0.0
        self.cleanup = _text(_dict(d.get("cleanup")), "state")
        self.limits: Dict[str, Limit] = {_text(x, "name"): _limit(x) for x in _dicts(d.get("limits"))}
        self.denials: List[str] = [f"{_text(x, 'operation')} {_text(x, 'target')}" for x in _dicts(d.get("denials"))]
        self.trimmed: List[str] = [f"{_text(x, 'field')}: {_text(x, 'rest')}" for x in _dicts(d.get("delivery"))]
        self.session = _text(_dict(d.get("session")), "id")
        uris = {name: uri for uri, name in self._links}
        self.files: List[File] = [_file(x, uris) for x in _dicts(d.get("files"))]
        p = _dict(d.get("program"))
        self.stdout, self.stdout_bytes = _stream(p.get("stdout"))
        self.stderr, self.stderr_bytes = _stream(p.get("stderr"))
        value = _dict(p.get("result"))
        self.value: Optional[str] = _text(value, "repr") if value else None
        self.data_value: Any = value.get("json")
        self.error: Optional[ProgramError] = None
        if isinstance(p.get("error"), dict):
            e = p["error"]
            self.error = ProgramError(_text(e, "type"), _text(e, "message"), _text(e, "traceback"))
        self.variables: Dict[str, Variable] = {n: _variable(v) for n, v in _dict(p.get("variables")).items() if isinstance(v, dict)}
        self.missed_bytes = 0  # of the output, that on_stdout and on_stderr were not given


def answer(raw: Mapping[str, Any]) -> Answer:
    """A run's answer is a Result."""
    a = Answer(raw)
    return Result(raw) if "schema_version" in a.data else a


def kept_of(raw: Mapping[str, Any]) -> List[Kept]:
    """A page of the list of resources."""
    return [Kept(_text(x, "name"), _text(x, "uri"), _text(x, "mimeType"), int(_number(x, "size") or 0)) for x in _dicts(raw.get("resources"))]


def _dict(v: Any) -> Dict[str, Any]:
    return v if isinstance(v, dict) else {}


def _list(v: Any) -> List[Any]:
    return v if isinstance(v, list) else []


def _dicts(v: Any) -> Sequence[Dict[str, Any]]:
    return [x for x in _list(v) if isinstance(x, dict)]


def _text(d: Mapping[str, Any], name: str) -> str:
    v = d.get(name)
    return v if isinstance(v, str) else ""


def _number(d: Mapping[str, Any], name: str) -> Optional[float]:
    v = d.get(name)
    return float(v) if isinstance(v, (int, float)) and not isinstance(v, bool) else None


def _bytes(v: Any) -> bytes:
    try:
        return base64.b64decode(v, validate=True) if isinstance(v, str) else b""
    except binascii.Error:
        return b""


def _stream(v: Any) -> Tuple[str, bytes]:
    # The text is made harmless for who shows it; where that changed it the bytes come, too.
    d = _dict(v)
    text = _text(d, "text")
    return text, _bytes(d["base64"]) if "base64" in d else text.encode("utf-8")


def _limit(d: Dict[str, Any]) -> Limit:
    figures = [_number(d, n) for n in ("requested", "effective", "ceiling", "peak")]
    return Limit(_text(d, "name"), _text(d, "unit"), figures[0], figures[1], figures[2], figures[3], _text(d, "held_by"), d.get("reached") is True)


def _file(d: Dict[str, Any], uris: Mapping[str, str]) -> File:
    path = _text(d, "path")
    size = d.get("bytes")
    return File(path, size if type(size) is int else 0, _text(d, "sha256"), _text(d, "mime"), _text(d, "change"), _text(d, "omitted"), uris.get(path, ""))


def _variable(d: Dict[str, Any]) -> Variable:
    return Variable(_text(d, "type"), _text(d, "repr"), d.get("json"), _text(d, "error"), d.get("cut") is True)
