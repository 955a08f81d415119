"""The look at the parsed text before anything runs: every violation of the profile at once."""

from __future__ import annotations

import ast
from typing import Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from psb.errors import EvalSyntaxRejected, Violation
from psb.evals.modules import grantable
from psb.evals.rules import Rules
from psb.evals.scope import bound_names
from psb.evals.words import BUILTINS, CLOSED, EXACT, GROUP_OF, GUARDED, MARKS, NEVER, dunder

Open = Dict[str, Tuple[int, int]]


class Checked(NamedTuple):
    """What the check found: violations, and names that only the namespace of an evaluation can judge, with their places."""

    violations: List[Violation]
    names: Open
    makes: bool  # functions or classes


def check(tree: ast.AST, text: str, rules: Rules) -> Checked:
    """All violations of rules in tree; never raises."""
    return _Check(text, rules).run(tree)


def refusal(violations: Sequence[Violation], filename: str) -> EvalSyntaxRejected:
    """The one error for all of violations, in the order of the text."""
    ordered = sorted(dict.fromkeys(violations), key=lambda v: (v.line, v.column))
    lines = [f"psb: evaluated text refused: {len(ordered)} construct{'s' if len(ordered) > 1 else ''} the policy does not grant"]
    for v in ordered[:50]:
        lines.append(f"  {v.line}:{v.column}: {v.what}: {v.text}" + (f"\n    psb: hint: {v.fix}" if v.fix else ""))
    error = EvalSyntaxRejected("\n".join(lines))
    error.violations = tuple(ordered)
    error.filename, error.lineno, error.offset = filename, ordered[0].line, ordered[0].column + 1
    error.hint = next((v.fix for v in ordered if v.fix), "")
    error.denials = tuple(f"eval {v.what}" for v in ordered)
    return error


class _Check:
    def __init__(self, text: str, rules: Rules) -> None:
        self.lines = text.split("\n")
        self.rules = rules
        self.violations: List[Violation] = []
        self.open: Open = {}
        self.seen: Set[Tuple[int, int, str]] = set()
        self.at = (1, 0)
        self.groups: Set[str] = set()  # of syntax, refused so far

    def run(self, tree: ast.AST) -> Checked:
        limits = self.rules.limits
        stack: List[Tuple[ast.AST, int, Tuple[int, int]]] = [(tree, 0, (1, 0))]
        nodes = deepest = 0
        makes = False
        bound: Set[str] = set()
        every: List[Tuple[ast.AST, Tuple[int, int]]] = []
        while stack:
            node, depth, at = stack.pop()
            kind = type(node).__name__
            if hasattr(node, "lineno"):
                at = (node.lineno, node.col_offset)
            if kind in MARKS or isinstance(node, ast.expr_context):
                continue
            nodes += 1
            if nodes > limits.max_nodes:
                self.tell(at, f"more than {limits.max_nodes} nodes", self.rules.raised("max_nodes", limits.max_nodes * 2))
                break
            if depth > limits.max_depth and deepest <= limits.max_depth:
                self.tell(at, f"nested deeper than {limits.max_depth}", self.rules.raised("max_depth", limits.max_depth * 2))
            deepest = max(deepest, depth)
            makes = makes or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.GeneratorExp))
            bound.update(bound_names(node))
            every.append((node, at))
            # Statements nest by their blocks, and a statement of an expression adds no depth of its own.
            deeper = depth + (0 if isinstance(node, (ast.mod, ast.arguments, ast.keyword, ast.Expr)) else 1)
            children = [(n, deeper, at) for n in ast.iter_child_nodes(node)]
            if isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
                children = [(n, depth if n is node.orelse[0] else deeper, at) for n, deeper, at in children]
            stack.extend(reversed(children))
        for node, at in every:
            self.at = at
            self.node(node, bound)
        return Checked(self.violations, self.open, makes)

    def tell(self, at: Tuple[int, int], what: str, fix: str) -> None:
        if (*at, what) not in self.seen:
            self.seen.add((*at, what))
            text = self.lines[at[0] - 1].strip()[:120] if 0 < at[0] <= len(self.lines) else ""
            self.violations.append(Violation(at[0], at[1], what, text, fix))

    def refuse(self, key: str, token: str, what: Optional[str] = None) -> None:
        self.tell(self.at, f"{key} {what or token}", self.rules.fix(key, token))

    def never(self, what: str) -> None:
        self.tell(self.at, what, "")

    def node(self, node: ast.AST, bound: Set[str]) -> None:
        kind = type(node).__name__
        if kind not in self.rules.nodes:
            group = GROUP_OF.get(kind, kind)
            if kind in _PARTS and group in self.groups:
                return  # what it is a part of was told
            self.groups.add(group)
            self.refuse("syntax", group, group if group == kind else f"{kind} ({group})")
        for name in bound_names(node):
            self.binds(name)
        method = getattr(self, {"Import": "import_", "For": "for_", "AsyncFor": "for_"}.get(kind, kind.lower()), None)
        if method is not None:
            method(node, bound)

    def binds(self, name: str) -> None:
        if not dunder(name):
            return
        if name in ("__builtins__", "__debug__", "__class__") or name in CLOSED or name in NEVER:
            self.never(f"binds {name}, which is never granted")
        elif name not in self.rules.magic:
            self.refuse("magic", name)

    def name(self, node: ast.Name, bound: Set[str]) -> None:
        if not isinstance(node.ctx, ast.Load):
            return
        name = node.id
        if dunder(name):
            if name in CLOSED or name in NEVER or name == "__builtins__":
                self.never(f"{name} is never granted")
            elif name not in self.rules.magic:
                self.refuse("magic", name)
        elif name not in bound and not self.rules.builtin(name):
            self.open.setdefault(name, self.at)

    def call(self, node: ast.Call, bound: Set[str]) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name and name not in bound and not self.rules.builtin(name) and not dunder(name):
            if name in NEVER:
                self.never(f"call {name}, which is never granted")
            else:
                self.refuse("call", name)

    def keyword(self, node: ast.keyword, bound: Set[str]) -> None:
        if node.arg:
            self.binds(node.arg)

    def attribute(self, node: ast.Attribute, bound: Set[str]) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.never(f"{'sets' if isinstance(node.ctx, ast.Store) else 'deletes'} the attribute {node.attr}: never granted")
        else:
            self.reads(node.attr)

    def reads(self, name: str) -> None:
        if name in CLOSED:
            self.never(f"attribute {name} is never granted")
        elif not self.rules.reads(name):
            self.refuse("magic" if dunder(name) else "attribute", name)

    def starred(self, node: ast.Starred, bound: Set[str]) -> None:
        if isinstance(node.ctx, ast.Store) and isinstance(node.value, (ast.Tuple, ast.List, ast.Subscript)):
            self.never("a star on more than a name")

    def tuple(self, node: ast.Tuple, bound: Set[str]) -> None:
        if isinstance(node.ctx, ast.Store):
            for e in node.elts:
                if isinstance(e, (ast.Tuple, ast.List)) and any(isinstance(n, ast.Starred) for n in ast.walk(e)):
                    self.never("a star in a target inside another")

    list = tuple

    def matchsequence(self, node: ast.AST, bound: Set[str]) -> None:
        for p in node.patterns:  # type: ignore[attr-defined]
            if type(p).__name__ != "MatchStar" and any(type(n).__name__ == "MatchStar" for n in ast.walk(p)):
                self.never("a star in a pattern inside another")

    def assign(self, node: ast.Assign, bound: Set[str]) -> None:
        alone = node.targets[0] if len(node.targets) == 1 else None
        for target in node.targets:
            for n in ast.walk(target):
                if n is not alone and isinstance(n, ast.Subscript) and _slices(n):
                    self.never("sets a slice together with others: never granted, set it alone")

    def for_(self, node: ast.For, bound: Set[str]) -> None:
        if any(isinstance(n, ast.Subscript) and _slices(n) for n in ast.walk(node.target)):
            self.never("sets a slice in a loop's head: never granted")

    def withitem(self, node: ast.withitem, bound: Set[str]) -> None:
        if node.optional_vars and any(isinstance(n, ast.Subscript) and _slices(n) for n in ast.walk(node.optional_vars)):
            self.never("sets a slice in with: never granted")

    def comprehension(self, node: ast.comprehension, bound: Set[str]) -> None:
        if any(isinstance(n, ast.Subscript) and _slices(n) for n in ast.walk(node.target)):
            self.never("sets a slice in a comprehension: never granted")

    def classdef(self, node: ast.ClassDef, bound: Set[str]) -> None:
        for k in node.keywords:
            if k.arg in (None, "metaclass"):
                self.never(f"class with {'**' if k.arg is None else 'metaclass'}: never granted")

    def importfrom(self, node: ast.ImportFrom, bound: Set[str]) -> None:
        if node.level:
            self.never("relative import: never granted")
        elif any(a.name == "*" for a in node.names):
            self.never("import of *: never granted")
        else:
            self.imports(node.module or "")
        for a in node.names:
            if a.name != "*" and a.name in CLOSED:
                self.never(f"import of {a.name}: never granted")

    def import_(self, node: ast.Import, bound: Set[str]) -> None:
        for a in node.names:
            self.imports(a.name)

    def imports(self, name: str) -> None:
        if not grantable(name):
            self.never(f"import {name}: never granted, it undoes the guard")
        elif not self.rules.module(name):
            self.refuse("import", name)

    def matchclass(self, node: ast.AST, bound: Set[str]) -> None:
        cls = node.cls  # type: ignore[attr-defined]
        if not isinstance(cls, ast.Name):
            self.never("class pattern with a dotted class: never granted")
        elif cls.id in BUILTINS and cls.id not in _SELF_MATCHING:
            self.never(f"class pattern {cls.id}: never granted")
        elif cls.id in _SELF_MATCHING and cls.id not in bound and not self.rules.builtin(cls.id):
            self.refuse("call", cls.id)
        elif node.patterns and (cls.id in bound or cls.id not in _SELF_MATCHING):  # type: ignore[attr-defined]
            self.never(f"class pattern {cls.id}(...) with positional parts: they read attributes unseen, write name=pattern")
        if any(type(n).__name__ == "MatchStar" for n in ast.walk(node)):
            self.never("a star in a pattern inside another")
        for name in node.kwd_attrs:  # type: ignore[attr-defined]
            if name in GUARDED or name in EXACT:
                self.never(f"class pattern reads {name}: never granted")
            else:
                self.reads(name)

    def matchvalue(self, node: ast.AST, bound: Set[str]) -> None:
        for n in ast.walk(node):
            if isinstance(n, (ast.Attribute, ast.Call, ast.Name, ast.BinOp)):
                self.never("a value of a pattern must be a literal")

    def matchmapping(self, node: ast.AST, bound: Set[str]) -> None:
        if any(type(n).__name__ == "MatchStar" for n in ast.walk(node)):
            self.never("a star in a pattern inside another")
        for key in node.keys:  # type: ignore[attr-defined]
            self.matchvalue(key, bound)


_PARTS = frozenset("comprehension arguments arg alias withitem ExceptHandler FormattedValue Interpolation".split())
_SELF_MATCHING = frozenset("bool bytearray bytes dict float frozenset int list set str tuple".split())


def _slices(node: ast.Subscript) -> bool:
    # The subscript of a store whose length the value decides.
    return any(isinstance(n, ast.Slice) for n in ast.walk(node.slice))
