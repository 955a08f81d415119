"""What a text would need of a profile, for learning. Nothing runs."""

from __future__ import annotations

import ast
import builtins
import types
from typing import Any, Dict, List, Mapping, Optional, Set, Tuple

from psb.evals.check import check
from psb.evals.modules import grantable
from psb.evals.rules import Rules
from psb.evals.scope import bound_names
from psb.evals.text import decode, limit
from psb.evals.words import BUILTINS, CLOSED, CORE, MARKS, NEVER, SEEING, dunder

Construct = Tuple[str, str]


def constructs(source: Any, kind: str, namespace: Optional[Mapping[str, Any]] = None) -> List[Construct]:
    """(key, name) of each construct in source, sorted: syntax nodes one by one, names that are called or are built-ins, attributes, imports, magic names.

    namespace is what the text would see: its modules become imports, what can be called becomes calls. What no profile can grant has the key "text" and
    its description for a name. Never raises; text that is no Python gives nothing."""
    try:
        return _constructs(source, kind, namespace)
    except Exception:
        return []


def _constructs(source: Any, kind: str, namespace: Optional[Mapping[str, Any]]) -> List[Construct]:
    tree, text = source, ""
    if not isinstance(source, ast.AST):
        text = decode(source)
        limit(text, "")
        tree = compile(
            text.lstrip(" \t") if kind == "eval" else text, "<string>", kind if kind != "compile" else "exec", ast.PyCF_ONLY_AST, dont_inherit=True
        )
    found: Set[Construct] = set()
    nodes = _nodes(tree)
    bound = {name for node in nodes for name in bound_names(node)}
    for node in nodes:
        kind_ = type(node).__name__
        if kind_ not in CORE and kind_ not in MARKS:
            found.add(("syntax", kind_))
        found.update(("magic", n) for n in bound_names(node) if dunder(n))
        found.update(_of(node, bound, namespace))
    possible = sorted(c for c in found if _possible(*c))
    return possible + _never(tree, text, possible)


def _nodes(tree: ast.AST) -> List[ast.AST]:
    # Each once. A tree that a program made may hold itself: compile() says so, and there is nothing to learn of it.
    found: List[ast.AST] = []
    seen: Set[int] = set()
    above: Set[int] = set()
    todo: List[Tuple[ast.AST, bool]] = [(tree, False)]
    while todo:
        node, left = todo.pop()
        if left:
            above.discard(id(node))
        elif id(node) in above:
            raise ValueError("a tree that holds itself")
        elif id(node) not in seen:
            seen.add(id(node))
            above.add(id(node))
            found.append(node)
            todo.append((node, True))
            todo.extend((child, False) for child in ast.iter_child_nodes(node))
    return found


def _never(tree: ast.AST, text: str, possible: List[Construct]) -> List[Construct]:
    # What a profile that grants all the rest would still refuse.
    lists: Dict[str, List[str]] = {}
    for key, name in possible:
        lists.setdefault(key, []).append(name)
    try:
        rules = Rules(lists)
    except ValueError:
        return []
    what = {v.what for v in check(tree, text, rules).violations if not v.fix}
    return sorted(("text", w.partition(": never")[0].replace(" is never granted", "").replace(", which", "")) for w in what)


def _of(node: ast.AST, bound: Set[str], namespace: Optional[Mapping[str, Any]]) -> Set[Construct]:
    out: Set[Construct] = set()
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        out.add(_attribute(node.attr))
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        out |= _name(node.id, bound, namespace)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in bound:
        out |= _callable(node.func.id, namespace[node.func.id] if namespace is not None and node.func.id in namespace else None)
    elif isinstance(node, ast.keyword) and node.arg and dunder(node.arg):
        out.add(("magic", node.arg))
    elif isinstance(node, ast.Import):
        out.update(("import", a.name) for a in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        out.add(("import", node.module))
        if node.module != "__future__":
            out.update(("call", a.name) for a in node.names if a.name != "*")
    elif type(node).__name__ == "MatchClass":
        out.update(_attribute(n) for n in node.kwd_attrs)  # type: ignore[attr-defined]
    return out


def _attribute(name: str) -> Construct:
    return ("magic" if dunder(name) else "attribute", name)


def _name(name: str, bound: Set[str], namespace: Optional[Mapping[str, Any]]) -> Set[Construct]:
    if dunder(name):
        return {("magic", name)}
    if name in bound:
        return set()
    if namespace is not None and name in namespace:
        value = namespace[name]
        if isinstance(value, types.ModuleType):
            return {("import", value.__name__)}
        return _callable(name, value) if callable(value) else set()
    return {("call", name)} if name in BUILTINS else set()


def _callable(name: str, value: Any) -> Set[Construct]:
    # A built-in that text gets behind a guard alone needs its own name besides the caller's; one that is never granted is nothing to learn.
    raw = next((n for n in SEEING if value is not None and getattr(builtins, n, None) is value), name)
    return set() if raw in NEVER else {("call", name), ("call", raw)}


def _possible(key: str, name: str) -> bool:
    if key == "import":
        return grantable(name) or name == "__future__"
    return name not in (NEVER if key == "call" else CLOSED if key in ("attribute", "magic") else ())
