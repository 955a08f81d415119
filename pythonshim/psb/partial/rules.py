"""The arguments of sandboxes() as words for psb.

Rules of a call stand beside those of the policy, as psb's own --allow and --limit do: they grant, hide or deny one object each, and a locked
policy takes none. What a policy says with false, and profiles of [python.eval], belong into the file."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Tuple

from psb.errors import SandBoxError

_OPS: Dict[str, Tuple[str, ...]] = {
    "files": ("read", "write", "create", "list", "exec", "hide", "device"),
    "net": ("connect", "private", "listen", "deny"),
}
_NAMES = {"syscalls": "syscall", "python_import": "import", "python_call": "call"}
_OPTIONS = {"provider": "provider", "require": "require", "allow_gaps": "allow-gap"}
KEYS = (*_OPS, "env", "limits", *_NAMES, *_OPTIONS)


def words(rules: Mapping[str, Any], environ: Dict[str, str]) -> List[str]:
    """psb's options for rules; values of `env` are put into environ, psb's own. SandBoxError: what cannot be said in a call."""
    out: List[str] = []
    for key, value in rules.items():
        if key in _OPS:
            out += _objects(key, value)
        elif key in _NAMES:
            out += [f"--allow={_NAMES[key]} {name}" for name in _granted(key, value)]
        elif key == "env":
            out += _env(value, environ)
        elif key == "limits":
            out += [f"--limit={name}={amount}" for name, amount in _mapping(key, value).items()]
        elif key in _OPTIONS:
            out += [f"--{_OPTIONS[key]}={v}" for v in ([value] if isinstance(value, str) else value)]
        else:
            raise SandBoxError(f"psb: sandboxes() has no argument {key}: one of {', '.join(KEYS)}")
    return out


def _mapping(key: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SandBoxError(f"psb: {key} is a table, as in the policy: {key}={{...}}")
    return value


def _objects(key: str, value: Any) -> Iterable[str]:
    for name, rights in _mapping(key, value).items():
        for right in [rights] if isinstance(rights, str) else rights:
            if right not in _OPS[key]:
                raise SandBoxError(f"psb: {key}: {name!r}: no right {right!r}: one of {', '.join(_OPS[key])}")
            yield f"--allow={right} {name}"


def _granted(key: str, value: Any) -> Iterable[str]:
    if isinstance(value, str):
        value = [value]
    for name in value:
        if isinstance(value, Mapping) and value[name] is not True:
            raise SandBoxError(f"psb: {key}: {name!r}: a call only grants; write false into the policy")
        yield name


def _env(value: Any, environ: Dict[str, str]) -> Iterable[str]:
    for name, text in _mapping("env", value).items():
        if isinstance(text, str):
            environ[name] = text
        elif text is not True:
            raise SandBoxError(f"psb: env: {name!r}: True passes the host's value, a text sets it; write false into the policy")
        yield f"--allow=env {name}"
