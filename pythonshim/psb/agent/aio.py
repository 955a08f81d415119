"""The Toolkit for asyncio: the same methods, awaited; a task that is cancelled takes its call, and the box, along."""

from __future__ import annotations

from types import TracebackType
from typing import Any, AsyncIterator, Dict, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union

from psb.agent.answers import Answer, File, Kept, Result
from psb.agent.files import Edit, FileInfo, Files
from psb.agent.metrics import Metrics
from psb.agent.server import OnOutput
from psb.agent.sessions import ClosedSessions, Session, SessionInfo
from psb.agent.shells import Shell
from psb.agent.tasks import Logs, Task, TaskStatus
from psb.agent.threads import awaited, in_loop
from psb.agent.toolkit import Ceiling, FilesIn, OnText, Toolkit
from psb.errors import SandBoxError

_K = TypeVar("_K", bound="AsyncToolkit")


class AsyncToolkit:
    """`async with AsyncToolkit(...) as kit` takes a Toolkit's arguments and starts its server; the end of the block ends it, and every box.

    Calls run beside each other. Handlers of output and on_ask are called in the loop, and may be coroutine functions."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._kit: Optional[Toolkit] = None

    async def __aenter__(self: _K) -> _K:
        if self._kit is not None:
            raise SandBoxError("psb: this AsyncToolkit is in use: make another one")
        options = dict(self._options)
        if options.get("on_ask") is not None:
            options["on_ask"] = in_loop(options["on_ask"])
        self._kit = await awaited(Toolkit, **options)
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], e: Optional[BaseException], where: Optional[TracebackType]) -> None:
        await self.close()

    async def close(self) -> None:
        """End the server, and every box of it. It may be called twice."""
        if self._kit is not None:
            await awaited(self._kit.close)

    @property
    def _begun(self) -> Toolkit:
        if self._kit is None:
            raise SandBoxError("psb: this AsyncToolkit has no server yet: async with AsyncToolkit() as kit")
        return self._kit

    # For a model.

    @property
    def names(self) -> List[str]:
        return self._begun.names

    async def schemas(self, format: str = "openai", strict: bool = False) -> Any:
        return await awaited(self._begun.schemas, format, strict)

    async def call(self, name: str, arguments: Union[str, Mapping[str, Any]], on_output: Optional[OnOutput] = None) -> Answer:
        """As Toolkit.call; on_output is called in a thread of the call's own."""
        return await awaited(self._begun.call, name, arguments, on_output)

    # Runs.

    async def run_python(self, code: str, *, on_stdout: Optional[OnText] = None, on_stderr: Optional[OnText] = None, files: Optional[FilesIn] = None, **arguments: Any) -> Result:
        return await awaited(self._begun.run_python, code, on_stdout=in_loop(on_stdout), on_stderr=in_loop(on_stderr), files=files, **arguments)

    async def run_command(self, command: str, *, on_stdout: Optional[OnText] = None, on_stderr: Optional[OnText] = None, files: Optional[FilesIn] = None, **arguments: Any) -> Result:
        return await awaited(self._begun.run_command, command, on_stdout=in_loop(on_stdout), on_stderr=in_loop(on_stderr), files=files, **arguments)

    run_shell = run_command

    async def start_python(self, code: str, *, files: Optional[FilesIn] = None, **arguments: Any) -> "AsyncTask":
        return AsyncTask(await awaited(self._begun.start_python, code, files=files, **arguments))

    async def start_command(self, command: str, *, files: Optional[FilesIn] = None, **arguments: Any) -> "AsyncTask":
        return AsyncTask(await awaited(self._begun.start_command, command, files=files, **arguments))

    def task(self, id: str) -> "AsyncTask":
        return AsyncTask(self._begun.task(id))

    async def tasks(self) -> List[TaskStatus]:
        return await awaited(self._begun.tasks)

    def session(self, id: str) -> "AsyncSession":
        return AsyncSession(self, self._begun.session(id))

    async def sessions(self) -> List[SessionInfo]:
        return await awaited(self._begun.sessions)

    async def close_sessions(self) -> ClosedSessions:
        return await awaited(self._begun.close_sessions)

    # What there is.

    async def describe(self, topic: str = "overview", query: Optional[str] = None) -> str:
        return await awaited(self._begun.describe, topic, query)

    def limits(self) -> Dict[str, Ceiling]:
        return self._begun.limits()

    def metrics(self) -> Metrics:
        return self._begun.metrics()

    async def kept(self) -> List[Kept]:
        return await awaited(self._begun.kept)

    async def fetch(self, file: Union[File, str]) -> bytes:
        return await awaited(self._begun.fetch, file)


class AsyncTask:
    """A Task whose questions are awaited. A question that is given up leaves the run as it is: cancel() ends it."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self.id = task.id

    def __repr__(self) -> str:
        return f"<AsyncTask {self.id}>"

    async def status(self) -> TaskStatus:
        return await awaited(self._task.status)

    async def logs(self, cursor: int = 0, tail: Optional[int] = None) -> Logs:
        return await awaited(self._task.logs, cursor, tail)

    async def follow(self) -> AsyncIterator[str]:
        texts = self._task.follow()
        while True:
            text: Optional[str] = await awaited(lambda: next(texts, None))
            if text is None:
                return
            yield text

    async def wait(self, timeout: Optional[float] = None) -> Optional[Result]:
        return await awaited(self._task.wait, timeout)

    async def result(self) -> Result:
        return await awaited(self._task.result)

    async def send(self, text: str, close: bool = False) -> None:
        await awaited(self._task.send, text, close)

    async def cancel(self) -> TaskStatus:
        return await awaited(self._task.cancel)


class AsyncSession:
    """A Session whose methods are awaited; `async with` closes it. A call that is given up is interrupted, and the state is kept where it can be."""

    def __init__(self, kit: AsyncToolkit, session: Session) -> None:
        self._kit, self._session = kit, session
        self.id = session.id
        self.files = AsyncFiles(session.files)

    def __repr__(self) -> str:
        return f"<AsyncSession {self.id}>"

    async def __aenter__(self) -> "AsyncSession":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], e: Optional[BaseException], where: Optional[TracebackType]) -> None:
        await awaited(self._session.__exit__, kind, e, where)

    async def run_python(self, code: str, **arguments: Any) -> Result:
        return await self._kit.run_python(code, session=self.id, **arguments)

    async def run_command(self, command: str, **arguments: Any) -> Result:
        return await self._kit.run_command(command, session=self.id, **arguments)

    run_shell = run_command

    def shell(self, name: str = "shell") -> "AsyncShell":
        return AsyncShell(self._session.shell(name))

    async def start_python(self, code: str, **arguments: Any) -> AsyncTask:
        return await self._kit.start_python(code, session=self.id, **arguments)

    async def start_command(self, command: str, **arguments: Any) -> AsyncTask:
        return await self._kit.start_command(command, session=self.id, **arguments)

    async def info(self) -> SessionInfo:
        return await awaited(self._session.info)

    async def reset(self) -> SessionInfo:
        return await awaited(self._session.reset)

    async def interrupt(self) -> None:
        await awaited(self._session.interrupt)

    async def pause(self) -> SessionInfo:
        return await awaited(self._session.pause)

    async def resume(self) -> SessionInfo:
        return await awaited(self._session.resume)

    async def close(self) -> None:
        await awaited(self._session.close)


class AsyncShell:
    """A Shell whose commands are awaited."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self.name = shell.name

    async def run(self, command: str, *, on_stdout: Optional[OnText] = None, on_stderr: Optional[OnText] = None, **arguments: Any) -> Result:
        return await awaited(self._shell.run, command, on_stdout=in_loop(on_stdout), on_stderr=in_loop(on_stderr), **arguments)


class AsyncFiles:
    """Files of a session, awaited."""

    def __init__(self, files: Files) -> None:
        self._files = files

    async def read(self, path: str, offset: int = 0, limit: Optional[int] = None) -> bytes:
        return await awaited(self._files.read, path, offset, limit)

    async def read_text(self, path: str, encoding: str = "utf-8", errors: str = "strict") -> str:
        return await awaited(self._files.read_text, path, encoding, errors)

    async def write(self, path: str, content: Union[str, bytes], *, executable: bool = False, append: bool = False) -> FileInfo:
        return await awaited(self._files.write, path, content, executable=executable, append=append)

    async def edit(self, path: str, old: str, new: str, expect_count: int = 1) -> int:
        return await awaited(self._files.edit, path, old, new, expect_count)

    async def edit_all(self, path: str, edits: "Sequence[Union[Edit, Tuple[str, str]]]") -> "List[int]":
        return await awaited(self._files.edit_all, path, edits)

    async def search(self, glob: Optional[str] = None, grep: Optional[str] = None, path: str = "", depth: int = 0) -> List[FileInfo]:
        return await awaited(self._files.search, glob, grep, path, depth)

    async def move(self, path: str, to: str) -> FileInfo:
        return await awaited(self._files.move, path, to)

    async def delete(self, path: str, recursive: bool = False) -> None:
        await awaited(self._files.delete, path, recursive)

    async def mkdir(self, path: str) -> FileInfo:
        return await awaited(self._files.mkdir, path)

    async def chmod(self, path: str, mode: int) -> FileInfo:
        return await awaited(self._files.chmod, path, mode)

    async def info(self, path: str) -> FileInfo:
        return await awaited(self._files.info, path)

    async def list(self, path: str = "", depth: int = 1) -> "List[FileInfo]":  # last: in this class the name is no type behind it
        return await awaited(self._files.list, path, depth)
