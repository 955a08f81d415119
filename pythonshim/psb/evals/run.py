"""Evaluations in this process: text is prepared once, then bound to a guard and run."""

from __future__ import annotations

import ast
import builtins
import sys
import threading
import types
from collections import OrderedDict
from typing import Any, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from psb.errors import SandBoxBaseExceptionError, Violation
from psb.evals import data, made, scope
from psb.evals.budget import COMPARED
from psb.evals.check import check, refusal
from psb.evals.guard import Guard, current
from psb.evals.places import is_box, places
from psb.evals.rewrite import Rewriter, flags_of, put, verify
from psb.evals.rules import Rules
from psb.evals.text import decode, parse, reject
from psb.evals.words import BUILTINS

FILE = "<string>"
_MOST = 512  # prepared texts that are kept
_LONGEST = 20_000  # characters of a text that is kept


class Prepared(NamedTuple):
    """A text that was checked and compiled. `names`: ungranted built-ins it reads, which only a namespace can give."""

    text: str
    kind: str
    file: str
    code: types.CodeType
    placeholder: str
    used: bool
    makes: bool
    names: Dict[str, Tuple[int, int]]
    mine: FrozenSet[str]
    natives: FrozenSet[str]
    rules: Rules
    flags: int


_cache: "OrderedDict[Any, Prepared]" = OrderedDict()
_lock = threading.Lock()


def prepare(source: Any, kind: str, rules: Rules, file: str = FILE, flags: int = 0, optimize: int = -1, have: Sequence[Any] = ()) -> Prepared:
    """source checked and compiled for kind "eval", "exec" or "single"; have are the namespaces it will see, as far as they are known.

    EvalSyntaxRejected with every violation; SyntaxError where Python itself refuses the text."""
    if isinstance(source, ast.AST):
        source = _written(source, kind)
        if isinstance(source, ast.AST):
            return _prepare("", kind, rules, file, flags, optimize, have, source)
    text = source if type(source) is str else decode(source)
    key = (text, kind, rules, file, flags, optimize)
    found = _cache.get(key)
    if found is not None:
        return found
    made_ = _prepare(text, kind, rules, file, flags, optimize, have)
    if len(text) <= _LONGEST:
        with _lock:
            _cache[key] = made_
            while len(_cache) > _MOST:
                _cache.popitem(last=False)
    return made_


def _prepare(
    text: str, kind: str, rules: Rules, file: str, flags: int, optimize: int, have: Sequence[Any], tree: Optional[ast.AST] = None
) -> Prepared:
    deeper = rules.raised("max_depth", rules.limits.max_depth * 2)
    most = rules.limits.max_nodes
    tree = parse(text, file, kind, flags, deeper, most, rules.raised("max_nodes", most * 2)) if tree is None else tree
    checked = check(tree, text, rules)
    names = {n: at for n, at in checked.names.items() if n in BUILTINS}
    if checked.violations:
        missing = {n: at for n, at in names.items() if not any(_has(space, n) for space in have)}
        raise refusal([*checked.violations, *_unnamed(missing, text, rules)], file)
    flags |= flags_of(tree)
    import __future__

    try:
        rewriter = Rewriter(tree, rules.builtin("super"), bool(flags & __future__.annotations.compiler_flag))
        mine = frozenset(scope.module(tree).bound) | frozenset(n for node in ast.walk(tree) if isinstance(node, ast.Global) for n in node.names)
        tree = ast.fix_missing_locations(rewriter.visit(tree))
        whole: Any = tree
        code = compile(whole, file, kind, flags, dont_inherit=True, optimize=optimize)
    except (RecursionError, MemoryError):
        raise reject("nested too deeply for Python's compiler", deeper) from None
    natives = frozenset(rewriter.natives)
    verify(code, natives | ({"AssertionError"} if sys.version_info < (3, 9) else set()))
    if rewriter.used is False and checked.makes:
        rewriter.used = True
    return Prepared(text, kind, file, code, rewriter.placeholder, rewriter.used, checked.makes, names, mine, natives, rules, flags)


def _unnamed(names: Mapping[str, Tuple[int, int]], text: str, rules: Rules) -> List[Violation]:
    lines = text.split("\n")
    return [
        Violation(at[0], at[1], f"call {n}", lines[at[0] - 1].strip()[:120] if at[0] <= len(lines) else "", _fix(rules, n)) for n, at in names.items()
    ]


def _fix(rules: Rules, name: str) -> str:
    from psb.evals.words import NEVER

    return "" if name in NEVER else rules.fix("call", name)


def _written(tree: ast.AST, kind: str) -> Any:
    """A tree as text, which is then looked at as any; before 3.9, which cannot write it, a copy that is no more than a parser makes."""
    wanted = {"eval": ast.Expression, "exec": ast.Module, "single": ast.Interactive}[kind]
    if not isinstance(tree, wanted):
        raise TypeError(f"expected {wanted.__name__} node, got {type(tree).__name__}")
    if sys.version_info < (3, 9):
        from psb.evals import trees

        tree = trees.copy(tree)
        trees.identifiers(tree)
        return ast.fix_missing_locations(tree)
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    except RecursionError:
        raise reject("nested too deeply", "") from None


def require(p: Prepared, globals_: Mapping[str, Any], locals_: Any) -> None:
    """EvalSyntaxRejected where the namespace lacks a name that is then an ungranted built-in."""
    if not p.names:
        return
    missing = {n: at for n, at in p.names.items() if n not in globals_ and not _has(locals_, n)}
    if missing:
        raise refusal(_unnamed(missing, p.text, p.rules), p.file)


def _has(space: Any, name: str) -> bool:
    if space is None:
        return False
    try:
        space[name]
    except KeyError:
        return False
    return True


def run(p: Prepared, guard: Guard, globals_: Dict[str, Any], locals_: Any) -> Any:
    """The value of p under guard; what it raises comes out as it is."""
    code = put(p.code, p.placeholder, guard) if p.used else p.code
    if p.makes:
        made.add_code(code)
    before = getattr(current, "budget", None)
    current.budget = guard.budget
    try:
        if p.kind == "eval":
            value = eval(code, globals_, locals_)
        else:
            value = exec(code, globals_, locals_)  # type: ignore[func-returns-value]
        guard.budget.check()
        return value
    finally:
        current.budget = before


def closed_space(p: Prepared, names: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """A namespace of its own: names, and no more of Python than making a class takes."""
    space: Dict[str, Any] = dict(names) if names else {}
    own: Dict[str, Any] = {"__name__": "evaluated"}
    if p.used:
        own["__build_class__"] = builtins.__build_class__
        own["AssertionError"] = AssertionError
        for n in p.natives:
            if n not in space and hasattr(builtins, n):
                own[n] = getattr(builtins, n)
    space["__builtins__"] = own
    return space


def here(source: Any, kind: str, rules: Rules, names: Optional[Mapping[str, Any]]) -> Any:
    """guarded_eval in this process: the value, or the data among the variables."""
    p = prepare(source, kind, rules, have=(names,))
    if not p.used and p.kind == "eval":
        return eval(p.code, {"__builtins__": {}})
    space = closed_space(p, names)
    require(p, space, None)
    guard = Guard(rules, space, None, p.mine, closed=True)
    return settle(p, guard, space, names)


def settle(p: Prepared, guard: Guard, space: Dict[str, Any], names: Optional[Mapping[str, Any]]) -> Any:
    """Runs p and lets only data out."""
    try:
        value = run(p, guard, space, None)
    except BaseException as e:
        clean = outward(e)
        if clean is e:
            raise
        raise clean from None
    finally:
        guard.sealed = True
        if p.makes and names:
            data.scrub(names)
    if p.kind == "eval":
        data.leave(value, names)
        _unfold(guard, value, names)
        return value
    made_here = variables(space, names)
    for v in made_here.values():
        _unfold(guard, v, names)
    return made_here


def _unfold(guard: Guard, value: Any, names: Optional[Mapping[str, Any]]) -> None:
    # Whoever prints, compares or copies a result meets each part in each of its places: sixty small lists can stand for 2**60.
    if is_box(value) and not (names and any(value is v for v in names.values())) and places(value) > COMPARED:
        guard.budget.end("max_alloc", "the result holds its parts in too many places")


def variables(space: Mapping[str, Any], names: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """The variables the text made or changed, as far as they are data."""
    out = {}
    for k, v in space.items():
        if k in ("__builtins__", "__warningregistry__") or (names is not None and k in names and names[k] is v):
            continue
        if data.foreign(v, names) is None:
            out[k] = v
    return out


def outward(e: BaseException) -> BaseException:
    """The exception that leaves an evaluation: of a class of Python's own, with plain arguments, holding nothing of the text."""
    from psb.errors import EvalInterrupted, SandBoxError

    cls = type(e)
    if isinstance(e, (EvalInterrupted, SandBoxError)) and not made.is_class(cls):
        return _bare(e)
    if not isinstance(e, Exception) and not isinstance(e, KeyboardInterrupt):
        error = SandBoxBaseExceptionError(f"psb: evaluated text ended with {cls.__name__}")
        error.name = cls.__name__
        return error
    own = vars(builtins).get(cls.__name__) is cls
    if own and all(data.foreign(a, None) is None for a in e.args) and type(e.args) is tuple:
        return _bare(e)
    base = next((c for c in cls.__mro__ if vars(builtins).get(c.__name__) is c and issubclass(c, Exception)), Exception)
    try:
        text = "" if made.is_class(cls) else BaseException.__str__(e)
    except Exception:
        text = ""
    if made.is_class(cls):
        text = " ".join(a for a in BaseException.__dict__["args"].__get__(e) if type(a) is str)
    return plain(base, cls.__name__, text)


def plain(base: type, name: str, text: str) -> BaseException:
    """An exception of the built-in class base that tells of one called name."""
    said = f"{name}: {text}" if text and name != base.__name__ else text or name
    if issubclass(base, (UnicodeError, SyntaxError)):
        return ValueError(said)
    make: Any = base
    try:
        error = make(said)
    except TypeError:
        error = RuntimeError(said)
    assert isinstance(error, BaseException)
    return error


def _bare(e: BaseException) -> BaseException:
    # No frame, no other exception and no object of the text goes along.
    e.__cause__ = e.__context__ = None
    e.__suppress_context__ = True
    for name in ("obj", "name_from"):
        if getattr(e, name, None) is not None:
            try:
                setattr(e, name, None)
            except (AttributeError, TypeError):
                pass
    return e.with_traceback(None)


def nested(guard: Any, kind: str, source: Any, globals_: Any, locals_: Any) -> Any:
    """eval and exec called by text: the same rules, the same budget."""
    p = prepare(source, kind, guard.rules)
    for space in (globals_, locals_):
        if space is not None and type(space) is not dict:
            raise TypeError("namespaces must be dicts")
    own = guard.globals if globals_ is None else {**closed_space(p, globals_)}
    if globals_ is not None:
        require(p, own, locals_)
    inner = Guard(guard.rules, own, locals_ if globals_ is not None or locals_ is not None else guard.locals, p.mine, guard.budget, closed=True)
    inner.granted, inner.views, inner.out_, inner.only = guard.granted, guard.views, guard.out_, guard.only
    guard.mine |= p.mine
    inner.mine |= guard.mine | set(globals_ or ()) | set(locals_ or ())  # the text chose those names
    depth = guard.enter()
    try:
        value = run(p, inner, own, inner.locals)
    finally:
        guard.leave(depth)
    if globals_ is not None and kind == "exec":
        globals_.update((k, v) for k, v in own.items() if k != "__builtins__")
    return value
