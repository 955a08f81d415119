"""Which names are a function's own. Every other name is looked up by the evaluation, never by the interpreter."""

from __future__ import annotations

import ast
from typing import Iterator, List, Optional, Sequence, Set, Union

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Scope:
    """One scope: kind is "module", "class", "function" or "comprehension"."""

    __slots__ = ("kind", "bound", "globals", "outer", "nonlocals")

    def __init__(self, kind: str, outer: Optional["Scope"], bound: Set[str], globals_: Set[str], nonlocals: Set[str]) -> None:
        self.kind = kind
        self.outer = outer
        self.globals = globals_
        self.nonlocals = nonlocals
        self.bound = bound - globals_ - nonlocals

    def owns(self, name: str) -> str:
        """How name is found here: "local" natively, "class" in the class that is being made, "top" or "global" by the evaluation."""
        scope: Optional[Scope] = self
        inside = False
        while scope is not None:
            if name in scope.globals:
                return "global"
            if scope.kind in ("function", "comprehension") and name in scope.bound:
                return "local"
            if scope.kind == "class" and not inside and name in scope.bound:
                return "class"
            if scope.kind == "module":
                return "global" if inside else "top"
            # What stands in a list, set or dict comprehension sees the names around it, also a caller's locals.
            inside = inside or scope.kind == "function"
            if scope.kind == "class":
                inside = True
            scope = scope.outer
        return "global"


def module(tree: ast.AST) -> Scope:
    """The scope of a whole text."""
    names = _Names()
    names.body(getattr(tree, "body", []))
    return Scope("module", None, names.bound, set(), set())


def of_parameters(node: ast.AST, outer: Scope) -> Scope:
    """The scope around a function or a class that has type parameters, else outer."""
    names = {str(getattr(p, "name", "")) for p in getattr(node, "type_params", ())}
    return Scope("function", outer, names, set(), set()) if names else outer


def of_function(args: ast.arguments, body: Sequence[ast.AST], outer: Scope) -> Scope:
    """The scope of a function or a lambda."""
    names = _Names()
    for a in arguments(args):
        names.bound.add(a.arg)
    names.body(body)
    return Scope("function", outer, names.bound, names.globals, names.nonlocals)


def of_class(node: ast.ClassDef, outer: Scope) -> Scope:
    """The scope of a class body."""
    names = _Names()
    names.body(node.body)
    return Scope("class", outer, names.bound, names.globals, names.nonlocals)


def of_comprehension(node: ast.AST, outer: Scope) -> Scope:
    """The scope of a comprehension: its targets only."""
    bound: Set[str] = set()
    for generator in node.generators:  # type: ignore[attr-defined]
        for n in ast.walk(generator.target):
            if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load):
                bound.add(n.id)
    return Scope("function" if isinstance(node, ast.GeneratorExp) else "comprehension", outer, bound, set(), set())


def arguments(args: ast.arguments) -> List[ast.arg]:
    """All parameters."""
    rest = [a for a in (args.vararg, args.kwarg) if a is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *rest]


def bound_names(node: ast.AST) -> Iterator[str]:
    """The names that node itself, not what is in it, binds."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from node.names
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.split(".")[0]
    elif type(node).__name__ in ("MatchAs", "MatchStar", "TypeVar", "ParamSpec", "TypeVarTuple"):
        name = getattr(node, "name", None)
        if isinstance(name, str):
            yield name
    elif type(node).__name__ == "MatchMapping" and getattr(node, "rest", None):
        yield getattr(node, "rest")


class _Names(ast.NodeVisitor):
    """Collects what is bound in one scope, without the scopes inside it."""

    def __init__(self) -> None:
        self.bound: Set[str] = set()
        self.globals: Set[str] = set()
        self.nonlocals: Set[str] = set()
        self._inside = 0  # comprehensions around the node

    def body(self, nodes: Union[Sequence[ast.AST], ast.AST]) -> None:
        for n in nodes if isinstance(nodes, (list, tuple)) else [nodes]:
            self.visit(n)

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Global):
            self.globals.update(node.names)
        elif isinstance(node, ast.Nonlocal):
            self.nonlocals.update(node.names)
        elif not isinstance(node, ast.arg) and not self._inside:
            self.bound.update(bound_names(node))
        super().generic_visit(node)

    def _function(self, node: Function) -> None:
        self.bound.add(node.name)
        for n in [*node.decorator_list, *node.args.defaults, *[d for d in node.args.kw_defaults if d], *([node.returns] if node.returns else [])]:
            self.visit(n)
        for a in arguments(node.args):
            if a.annotation:
                self.visit(a.annotation)

    visit_FunctionDef = _function
    visit_AsyncFunctionDef = _function

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bound.add(node.name)
        for n in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(n)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for n in [*node.args.defaults, *[d for d in node.args.kw_defaults if d]]:
            self.visit(n)

    def _comprehension(self, node: ast.AST) -> None:
        # Its targets are its own; a walrus in it, not in a lambda, binds here.
        self._inside += 1
        super().generic_visit(node)
        self._inside -= 1

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        if isinstance(node.target, ast.Name):
            self.bound.add(node.target.id)
        self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.simple or node.value is not None or not isinstance(node.target, ast.Name):
            for n in (node.target, node.annotation, *([node.value] if node.value else [])):
                self.visit(n)

    visit_ListComp = _comprehension
    visit_SetComp = _comprehension
    visit_DictComp = _comprehension
    visit_GeneratorExp = _comprehension
