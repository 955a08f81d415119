"""The half in the box of execute(): runs the text as the main module and sends the variables that were asked for."""

from __future__ import annotations

import sys
from typing import Any, Dict, Sequence, Tuple

from psb import codec
from psb.partial import wire


def run_text(sock: Any, hello: Dict[str, Any]) -> None:
    """Everything from the text to the process's own end."""
    from types import ModuleType

    sys.argv[:] = ["-c"]
    main = sys.modules["__main__"] = ModuleType("__main__")
    try:
        exec(compile(hello["code"], "<string>", "exec"), main.__dict__)
    except SystemExit:
        _tell(sock, main.__dict__, hello["names"])
        raise
    except BaseException as e:
        _tell(sock, main.__dict__, hello["names"])
        own = e.__traceback__
        e.__traceback__ = own.tb_next if own is not None else None  # without this file
        sys.excepthook(type(e), e, e.__traceback__)
        sys.exit(1)
    _tell(sock, main.__dict__, hello["names"])


def _tell(sock: Any, found: Dict[str, Any], names: Sequence[str]) -> None:
    out: Dict[str, Tuple[bool, Any]] = {}
    for name in names:
        if name not in found:
            out[name] = (False, f"no variable {name}")
            continue
        try:
            codec.encode(found[name])
        except (TypeError, ValueError) as e:
            out[name] = (False, str(e))
        else:
            out[name] = (True, found[name])
    try:
        codec.send(sock, out, wire.RESULT)
    except OSError:  # nobody is there any more
        pass
