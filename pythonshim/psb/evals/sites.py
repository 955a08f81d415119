"""What stands behind eval, exec and compile at a program's call sites: its own namespaces, under a profile."""

from __future__ import annotations

import ast
import sys
import types
import weakref
from typing import Any, Dict, Mapping, MutableMapping, Optional, Tuple, Union

from psb.errors import RuleEvalPermissionError
from psb.evals import data, made
from psb.evals.guard import Guard
from psb.evals.rules import Rules
from psb.evals.run import FILE, Prepared, closed_space, outward, prepare, require, run, variables
from psb.evals.text import decode, parse

# Code that compile gave out, by identity, with the text it stands for.
_compiled: Dict[int, Tuple["weakref.ref[types.CodeType]", Prepared]] = {}


def evaluate(
    kind: str,
    source: Any,
    globals: Optional[Dict[str, Any]] = None,
    locals: Optional[MutableMapping[str, Any]] = None,
    rules: Union[Rules, Mapping[str, Any], None] = None,
    site: str = "",
    *,
    filename: Any = FILE,
    mode: str = "exec",
    flags: int = 0,
    dont_inherit: bool = False,
    optimize: int = -1,
    inherited: int = 0,
) -> Any:
    """What the built-in kind ("eval", "exec", "compile") does with source, under rules, a profile or a mapping.

    globals and locals are what the call gave or, where it gave none, what `namespaces` finds; inherited are the calling code's flags for the
    compiler. site is the place of the call, for messages. Errors: EvalSyntaxRejected, RuleEvalPermissionError, EvalInterrupted, and the built-in's.
    """
    if not isinstance(rules, Rules):
        from psb.evals import parsed

        rules = parsed(rules or {})
    flags |= 0 if dont_inherit else inherited & _INHERITED
    try:
        if kind == "compile":
            return _compile(source, filename, mode, rules, flags, optimize)
        return _at_site(kind, source, globals, locals, rules, flags)
    except RuleEvalPermissionError as e:
        e.__context__ = None
        if site and not str(e).endswith(f"({site})"):
            e.args = (f"{e.args[0]} ({site})", *e.args[1:])
        raise


def _inherited() -> int:
    import __future__

    mask = 0
    for n in __future__.all_feature_names:
        mask |= getattr(__future__, n).compiler_flag
    return mask


_INHERITED = _inherited()


def _compile(source: Any, filename: Any, mode: str, rules: Rules, flags: int, optimize: int) -> Any:
    if mode not in ("eval", "exec", "single"):
        raise ValueError("compile() mode must be 'exec', 'eval' or 'single'")
    if flags & ast.PyCF_ONLY_AST:
        if isinstance(source, ast.AST):
            return source
        return parse(decode(source), str(filename), mode, flags & ~ast.PyCF_ONLY_AST, "")
    if isinstance(filename, (bytes, bytearray)):
        filename = bytes(filename).decode(sys.getfilesystemencoding(), "surrogateescape")
    p = prepare(source, mode, rules, str(filename), flags, optimize)
    # A code object of its own, so that each is known by its identity. Run by anything else it stops at the first name.
    code = p.code.replace(co_firstlineno=p.code.co_firstlineno)
    key = id(code)
    _compiled[key] = (weakref.ref(code, lambda _, key=key: _compiled.pop(key, None)), p)  # type: ignore[misc]
    return code


def _at_site(kind: str, source: Any, globals_: Optional[Dict[str, Any]], locals_: Any, rules: Rules, flags: int) -> Any:
    if globals_ is not None and not isinstance(globals_, dict):
        raise TypeError("globals must be a dict" if kind == "eval" else f"exec() globals must be a dict, not {type(globals_).__name__}")
    if locals_ is not None and not hasattr(type(locals_), "__getitem__"):
        raise TypeError("locals must be a mapping")
    space: Dict[str, Any] = {} if globals_ is None else globals_
    p = _prepared(kind, source, space, locals_, rules, flags)
    if rules.namespace == "caller":
        raw = compile(p.text.lstrip(" \t") if p.kind == "eval" else p.text, p.file, p.kind, p.flags, dont_inherit=True)
        return eval(raw, space, locals_)
    target = space if locals_ is None else locals_
    if rules.namespace == "closed":
        return _closed(kind, p, target)
    require(p, space, locals_)
    guard = Guard(rules, space, locals_, p.mine)
    value = _told(p, guard, space, locals_)
    if guard.views:
        _modules_back(p, guard, target)
        view = guard.views.get(id(value))
        value = value if view is None else view[1]
    if kind == "exec":
        if p.makes:
            _no_instances(p, target)
        return None
    if made.is_instance(value) or type(value) not in _QUICK and any(made.is_instance(v) for v in data._walk(value)):
        raise data.refused("the result", type(value))
    return value


def _prepared(kind: str, source: Any, space: Any, locals_: Any, rules: Rules, flags: int) -> Prepared:
    """A text, a tree, or code that _compile gave."""
    if not isinstance(source, types.CodeType):
        return prepare(source, kind, rules, FILE, flags, have=() if rules.namespace == "closed" else (space, locals_))
    found = _compiled.get(id(source))
    if found is None or found[0]() is not source:
        raise _unknown_code()
    p = found[1]
    if p.rules is not rules:
        if not p.text:
            raise _unknown_code()
        p = prepare(p.text, p.kind, rules, p.file, p.flags)
    # eval() and exec() both take any code.
    return p._replace(kind="eval") if kind == "eval" else p


def _closed(kind: str, p: Prepared, target: Any) -> Any:
    own = closed_space(p, None)
    require(p, own, None)
    value = _told(p, Guard(p.rules, own, None, p.mine, closed=True), own, None)
    if kind == "eval":
        return data.leave(value, None)
    for k, v in variables(own, None).items():
        target[k] = v
    return None


def _unknown_code() -> RuleEvalPermissionError:
    error = RuleEvalPermissionError("psb: evaluated text refused: a code object that was not compiled under the policy")
    error.target = "code"
    return error


_QUICK = frozenset((int, float, str, bool, bytes, type(None)))


def _told(p: Prepared, guard: Guard, space: Dict[str, Any], locals_: Any) -> Any:
    try:
        return run(p, guard, space, locals_)
    except BaseException as e:
        if made.is_class(type(e)):
            raise outward(e) from None
        raise


def _modules_back(p: Prepared, guard: Guard, space: Any) -> None:
    # The program gets the module where text had its view of it.
    for name in p.mine:
        try:
            found = guard.views.get(id(space[name]))
        except KeyError:
            continue
        if found is not None and found[2]:
            space[name] = found[1]


def _no_instances(p: Prepared, space: Any) -> None:
    # Functions and classes stay guarded wherever they go; objects whose methods the program would call unawares do not leave.
    for name in p.mine:
        try:
            v = space[name]
        except KeyError:
            continue
        if any(made.is_instance(x) for x in data._walk(v)):
            del space[name]
            raise data.refused(f"the variable {name}", type(v))


def namespaces(frame: Any) -> Tuple[Dict[str, Any], Any]:
    """The globals and locals that a bare eval or exec in frame works on."""
    if frame.f_code.co_flags & 0x1 and sys.version_info >= (3, 13):
        return frame.f_globals, dict(frame.f_locals)  # a snapshot: nothing is written back to a function
    return frame.f_globals, frame.f_locals
