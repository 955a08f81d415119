"""The files of a session, from outside: nothing of the program's runs for them, and no link is followed."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from psb.errors import SandBoxError, SandBoxProtocolError

if TYPE_CHECKING:
    from psb.agent.toolkit import Toolkit


class FileInfo(NamedTuple):
    """What stands at a name. `kind` is file, folder, link or other; `lines` are those that a search found, by number from 1."""

    path: str
    kind: str
    size: int
    mode: int
    modified: str
    sha256: str
    lines: Tuple[Tuple[int, str], ...]


class Edit(NamedTuple):
    """One replacement: old must stand there so often (0: as often as it does, but at least once)."""

    old: str
    new: str
    expect_count: int = 1


class Files:
    """Of one session; names are relative to its workspace. SandBoxError: psb refuses, and says why."""

    def __init__(self, kit: "Toolkit", session: str) -> None:
        self._kit = kit
        self._session = session

    def read(self, path: str, offset: int = 0, limit: Optional[int] = None) -> bytes:
        """The bytes from offset on, at most limit of them."""
        most = self._kit.most_of_a_read
        out = bytearray()
        while limit is None or len(out) < limit:
            piece = most if limit is None else min(most, limit - len(out))
            d = self._ask("file_read", path=path, offset=offset + len(out), limit=piece, encoding="base64")
            try:
                data = base64.b64decode(d.get("content", ""), validate=True)
            except (TypeError, ValueError, binascii.Error):
                raise SandBoxProtocolError("psb: psb mcp sent no contents") from None
            out += data
            if d.get("end") is True or not data:
                break
        return bytes(out)

    def read_text(self, path: str, encoding: str = "utf-8", errors: str = "strict") -> str:
        return self.read(path).decode(encoding, errors)

    def write(self, path: str, content: Union[str, bytes], *, executable: bool = False, append: bool = False) -> FileInfo:
        """The whole file, or to its end; its folders are made."""
        data = content.encode("utf-8") if isinstance(content, str) else bytes(content)
        text = base64.b64encode(data).decode("ascii")
        return _info(self._ask("file_write", path=path, content=text, encoding="base64", executable=executable, append=append))

    def edit(self, path: str, old: str, new: str, expect_count: int = 1) -> int:
        """Replace old, which must stand there so often (0: as often as it does, but at least once); how often it was."""
        replaced = self._ask("file_edit", path=path, old=old, new=new, expect_count=expect_count).get("replaced")
        return replaced if type(replaced) is int else 0

    def edit_all(self, path: str, edits: "Sequence[Union[Edit, Tuple[str, str]]]") -> "List[int]":
        """Several replacements in a file, each in what those before it left: all of them, or none where one cannot be made. How often each was."""
        asked = [Edit(*e)._asdict() for e in edits]
        told = self._ask("file_edit", path=path, edits=asked).get("replaced_each")
        return [n for n in told if type(n) is int] if isinstance(told, list) else []

    def list(self, path: str = "", depth: int = 1) -> List[FileInfo]:
        """What is in a folder, so many folders deep; 0 is any."""
        return self.search(path=path, depth=depth)

    def search(self, glob: Optional[str] = None, grep: Optional[str] = None, path: str = "", depth: int = 0) -> List[FileInfo]:
        """By name ("src/**/*.py") and by a line that matches (RE2). At most a thousand."""
        found = self._ask("file_find", path=path or None, glob=glob, grep=grep, depth=depth).get("files")
        return [_info(d) for d in found if isinstance(d, dict)] if isinstance(found, list) else []

    def move(self, path: str, to: str) -> FileInfo:
        return _info(self._ask("file_manage", action="move", path=path, to=to))

    def delete(self, path: str, recursive: bool = False) -> None:
        self._ask("file_manage", action="delete", path=path, recursive=recursive)

    def mkdir(self, path: str) -> FileInfo:
        return _info(self._ask("file_manage", action="mkdir", path=path))

    def chmod(self, path: str, mode: int) -> FileInfo:
        return _info(self._ask("file_manage", action="chmod", path=path, mode=f"{mode:03o}"))

    def info(self, path: str) -> FileInfo:
        return _info(self._ask("file_manage", action="stat", path=path))

    def _ask(self, tool: str, **arguments: Any) -> Dict[str, Any]:
        a = self._kit.call(tool, {"session": self._session, **arguments})
        if not a.ok:
            raise SandBoxError(f"psb: {tool}: {a.text}")
        return a.data


def _info(d: Dict[str, Any]) -> FileInfo:
    size, mode, lines = d.get("bytes"), str(d.get("mode", "")), d.get("lines")
    found = [x for x in lines if isinstance(x, dict)] if isinstance(lines, list) else []
    return FileInfo(
        str(d.get("path", "")),
        str(d.get("kind", "")),
        size if type(size) is int else 0,
        int(mode, 8) if mode.isdigit() and not set(mode) & set("89") else 0,
        str(d.get("modified", "")),
        str(d.get("sha256", "")),
        tuple((int(x.get("line", 0)), str(x.get("text", ""))) for x in found),
    )
