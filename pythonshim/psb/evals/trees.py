"""Trees given instead of text, for interpreters that cannot write one out: a copy that holds nothing but what a parser makes."""

from __future__ import annotations

import ast
import unicodedata
from typing import Any

from psb.evals.text import CHAIN, reject

_PLAIN = (str, bytes, int, float, complex, bool, type(None), type(Ellipsis))


def copy(node: Any, depth: int = 0) -> Any:
    """node anew. TypeError or ValueError where it is no tree a parser could make, EvalSyntaxRejected where it is too deep."""
    if depth > min(CHAIN, 200):
        raise reject("nested too deeply", "")
    if isinstance(node, list):
        return [copy(n, depth) for n in node]
    if isinstance(node, ast.AST):
        kind = getattr(ast, type(node).__name__, None)
        if kind is not type(node):
            raise TypeError(f"expected a node of ast, got {type(node).__name__}")
        return kind(**{f: copy(getattr(node, f, None), depth + 1) for f in (*node._fields, *node._attributes)})
    if isinstance(node, str) and type(node) is str:
        return node
    if type(node) in _PLAIN:
        return node
    raise TypeError(f"a tree holds a {type(node).__name__}")


def identifiers(tree: ast.AST) -> None:
    """ValueError where a name in tree is none that a parser makes."""
    for n in ast.walk(tree):
        for f in ("id", "attr", "arg", "name", "asname", "module"):
            v = getattr(n, f, None)
            if isinstance(v, str) and not (all(p.isidentifier() for p in v.split(".")) and unicodedata.normalize("NFKC", v) == v or v == "*"):
                raise ValueError(f"a tree holds the name {v!r}")
        for v in getattr(n, "names", ()):
            if isinstance(v, str) and not (v.isidentifier() and unicodedata.normalize("NFKC", v) == v):
                raise ValueError(f"a tree holds the name {v!r}")
