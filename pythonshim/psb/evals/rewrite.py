"""Checked text made into code in which every name, attribute, call and operator goes through the guard."""

from __future__ import annotations

import ast
import builtins
import dis
import secrets
import sys
import types
from typing import Any, FrozenSet, List, Optional, Sequence, Set, Tuple, Union

from psb.evals import scope as scopes
from psb.evals.scope import Scope
from psb.evals.text import reject

DEPTH = " d"  # a local name that no parser makes: where a function keeps its depth

_OPS = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "Div": "div",
    "FloorDiv": "floordiv",
    "Mod": "mod",
    "Pow": "pow",
    "LShift": "lshift",
    "RShift": "rshift",
    "BitOr": "bit_or",
    "BitAnd": "bit_and",
    "BitXor": "bit_xor",
    "MatMult": "matmul",
}
_COMPARES = {"Eq": "eq", "NotEq": "ne", "Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge"}
_PLAIN_OPS = (ast.Add, ast.Sub, ast.Mult)
_ITEM_BYTES = {"ListComp": 8, "SetComp": 64, "DictComp": 100}


class Rewriter(ast.NodeTransformer):
    """One text. `placeholder` is the constant in the code where the guard goes; `used` says whether any was needed."""

    def __init__(self, tree: ast.AST, native_super: bool, strings: bool = False) -> None:
        self.placeholder = "psb-" + secrets.token_hex(16)
        self.scope: Scope = scopes.module(tree)
        self.used = False
        self.native_super = native_super
        self.strings = strings  # annotations become texts, which nothing evaluates
        self.natives: Set[str] = {"super"} if native_super else set()
        self.generator: List[bool] = []

    # Small parts.

    def g(self, method: str, *args: ast.AST, at: ast.AST, keywords: Sequence[ast.keyword] = ()) -> Any:
        """A call of the guard's method."""
        self.used = True
        func = ast.Attribute(ast.Constant(self.placeholder, kind=None), method, ast.Load())
        node = ast.Call(func, list(args), list(keywords))
        ast.copy_location(node, at)
        return ast.fix_missing_locations(node)

    def text(self, value: Any) -> Any:
        return ast.Constant(value, kind=None)

    def all(self, nodes: Sequence[Any]) -> List[Any]:
        out: List[Any] = []
        for n in nodes:
            r = self.visit(n)
            out.extend(r if isinstance(r, list) else [r] if r is not None else [])
        return out

    def opt(self, node: Any) -> Any:
        return None if node is None else self.visit(node)

    def annotation(self, node: Any) -> Any:
        return node if self.strings else self.opt(node)

    def act(self, method: str, *args: ast.AST, at: ast.AST) -> ast.Expr:
        return ast.copy_location(ast.Expr(self.g(method, *args, at=at)), at)

    # Names and attributes.

    def visit_Name(self, node: ast.Name) -> Any:
        if not isinstance(node.ctx, ast.Load):
            return node
        how = self.scope.owns(node.id)
        if how in ("local", "class"):
            return node
        return self.g("top" if how == "top" else "glob", self.text(node.id), at=node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        return self.g("attr", self.visit(node.value), self.text(node.attr), at=node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if isinstance(node.ctx, ast.Load):
            return self.g("item", self.visit(node.value), self.key(node.slice), at=node)
        value = self.visit(node.value)
        if isinstance(node.ctx, ast.Store):
            value = self.g("grow", value, at=node)
        key = self.key(node.slice)
        key = key if isinstance(key, ast.Constant) else self.hashed(key)
        return ast.copy_location(ast.Subscript(value, getattr(ast, "Index")(key) if sys.version_info < (3, 9) else key, node.ctx), node)

    def key(self, node: Any) -> Any:
        """A subscript as an expression."""
        kind = type(node).__name__
        if kind == "Index":
            return self.key(node.value)
        if kind == "ExtSlice":
            return ast.fix_missing_locations(ast.copy_location(ast.Tuple([self.key(d) for d in node.dims], ast.Load()), node.dims[0]))
        if isinstance(node, ast.Slice):
            parts: List[Any] = [p for p in (node.lower, node.upper, node.step) if p is not None]
            at = node if hasattr(node, "lineno") else [*parts, self.at][0]
            return self.g("sl", *[self.visit(p) if p is not None else self.text(None) for p in (node.lower, node.upper, node.step)], at=at)
        if isinstance(node, ast.Tuple) and any(isinstance(e, ast.Slice) for e in node.elts):
            return ast.copy_location(ast.Tuple([self.key(e) for e in node.elts], ast.Load()), node)
        return self.visit(node)

    at: ast.AST = ast.Pass(lineno=1, col_offset=0)

    # Calls and operators.

    def visit_Call(self, node: ast.Call) -> Any:
        args = self.all(node.args)
        keywords = self.all(node.keywords)
        f = node.func
        if (
            self.native_super
            and isinstance(f, ast.Name)
            and f.id == "super"
            and not node.args
            and not node.keywords
            and self.scope.owns("super") == "global"
        ):
            return node
        return self.g("call", self.visit(f), *args, at=node, keywords=keywords)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        if isinstance(node.op, _PLAIN_OPS) and _small(node.left) and _small(node.right):
            return node
        return self.g(_OPS[type(node.op).__name__], self.visit(node.left), self.visit(node.right), at=node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        left = self.visit(node.left)
        rest = self.all(node.comparators)
        if len(rest) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            inside = self.g("contains", left, rest[0], at=node)
            return inside if isinstance(node.ops[0], ast.In) else ast.copy_location(ast.UnaryOp(ast.Not(), inside), node)
        how = _COMPARES.get(type(node.ops[0]).__name__)
        if len(rest) == 1 and how and not _plain(node.left) and not _plain(node.comparators[0]):
            return self.g(how, left, rest[0], at=node)
        rest = [self.compared(op, c, v) for op, c, v in zip(node.ops, node.comparators, rest)]
        return ast.copy_location(ast.Compare(left, node.ops, rest), node)

    def compared(self, op: ast.cmpop, node: ast.expr, value: Any) -> Any:
        """A comparator, where others may follow: each is evaluated once."""
        if isinstance(op, (ast.In, ast.NotIn)):
            value = self.g("hay", value, at=node)
        elif type(op).__name__ not in _COMPARES or _plain(node):
            return value
        return self.g("even", value, at=node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        op = self.text(_OPS[type(node.op).__name__])
        if isinstance(node.target, ast.Name):
            name = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
            value = self.g("inplace", op, self.visit(name), self.visit(node.value), at=node)
            return ast.copy_location(ast.Assign([node.target], value, type_comment=None), node)
        assert isinstance(node.target, ast.Subscript)
        place = self.g("held", self.visit(node.target.value), self.key(node.target.slice), at=node.target)
        return self.act("augment", op, place, self.visit(node.value), at=node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
            t = node.targets[0]
            return self.act("put", self.visit(node.value), self.visit(t.value), self.key(t.slice), at=node)
        node.value = self.visit(node.value)
        if any(_starred(t) for t in node.targets):
            node.value = self.g("feed", node.value, at=node.value)
        node.targets = self.all(node.targets)
        return node

    def visit_Starred(self, node: ast.Starred) -> Any:
        value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            value = self.g("feed", value, at=node)
        return ast.copy_location(ast.Starred(value, node.ctx), node)

    def visit_Match(self, node: Any) -> Any:
        node = self.generic_visit(node)
        node.subject = self.g("subject", node.subject, at=node.subject)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        node.annotation = self.annotation(node.annotation)
        node.target = self.visit(node.target)
        node.value = self.opt(node.value)
        return node

    def shown(self, node: Any) -> Any:
        node = self.generic_visit(node)
        if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            return node
        if isinstance(node, ast.Set):
            node.elts = [e if isinstance(e, ast.Constant) else self.hashed(e) for e in node.elts]
        elif isinstance(node, ast.Dict):
            node.keys = [k if k is None or isinstance(k, ast.Constant) else self.hashed(k) for k in node.keys]
        elements = node.values if isinstance(node, ast.Dict) else node.elts
        if not elements or (isinstance(node, ast.Tuple) and all(isinstance(e, ast.Constant) for e in elements)):
            return node
        return self.g("shown", node, at=node)

    def hashed(self, node: Any) -> Any:
        """A key, or what becomes the keys of a set."""
        if isinstance(node, ast.Starred):
            return ast.copy_location(ast.Starred(self.g("even", node.value, at=node), node.ctx), node)
        return self.g("even", node, at=node)

    visit_List = shown
    visit_Set = shown
    visit_Dict = shown
    visit_Tuple = shown

    # Formatted strings.

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        return self.g("text", *[self.field(v) for v in node.values], at=node)

    def field(self, v: Any) -> Any:
        if not isinstance(v, ast.FormattedValue):
            return self.visit(v)
        spec = self.visit(v.format_spec) if v.format_spec is not None else self.text("")
        return self.g("fmt", self.visit(v.value), self.text(v.conversion), spec, at=v.value)

    def visit_Interpolation(self, node: Any) -> Any:
        node.value = self.visit(node.value)
        spec = node.format_spec
        if spec is not None:
            spec.values = [
                v if isinstance(v, ast.Constant) else ast.copy_location(ast.FormattedValue(self.field(v), -1, None), v) for v in spec.values
            ]
        return node

    # Comprehensions.

    def comp(self, node: Any) -> Any:
        outer = self.scope
        inner = scopes.of_comprehension(node, outer)
        cost = _ITEM_BYTES.get(type(node).__name__, 0)
        for i, gen in enumerate(node.generators):
            self.scope = outer if i == 0 else inner
            last = self.text(cost if i == len(node.generators) - 1 else 0)
            iterable = self.visit(gen.iter)
            if _starred(gen.target) and not gen.is_async:
                iterable = self.g("fed", iterable, at=gen.iter)
            gen.iter = iterable if gen.is_async else self.g("each", iterable, last, at=gen.iter)
            self.scope = inner
            gen.target = self.visit(gen.target)
            gen.ifs = self.all(gen.ifs)
        self.scope = inner
        for field in ("elt", "key", "value"):
            if hasattr(node, field):
                setattr(node, field, self.visit(getattr(node, field)))
        if isinstance(node, ast.DictComp) and not isinstance(node.key, ast.Constant):
            node.key = self.hashed(node.key)
        elif isinstance(node, ast.SetComp) and not isinstance(node.elt, ast.Constant):
            node.elt = self.hashed(node.elt)
        self.scope = outer
        return node

    visit_ListComp = comp
    visit_SetComp = comp
    visit_DictComp = comp
    visit_GeneratorExp = comp

    # Functions.

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        self.defaults(node.args)
        outer, self.scope = self.scope, scopes.of_function(node.args, [node.body], self.scope)
        self.generator.append(False)
        node.body = self.visit(node.body)
        self.generator.pop()
        self.scope = outer
        return self.g("lam", node, at=node)

    def parameters(self, node: Any) -> None:
        """Type parameters, whose bounds and defaults are expressions."""
        for p in getattr(node, "type_params", ()):
            for field in ("bound", "default_value"):
                if getattr(p, field, None) is not None:
                    setattr(p, field, self.visit(getattr(p, field)))

    def defaults(self, args: ast.arguments) -> None:
        args.defaults = self.all(args.defaults)
        args.kw_defaults = [self.opt(d) for d in args.kw_defaults]

    def function(self, node: Any) -> Any:
        decorators = [self.g("deco", self.visit(d), at=d) for d in node.decorator_list]
        self.defaults(node.args)
        outer = self.scope
        self.scope = scopes.of_parameters(node, outer)
        self.parameters(node)
        for a in scopes.arguments(node.args):
            a.annotation = self.annotation(a.annotation)
        node.returns = self.annotation(node.returns)
        self.scope = scopes.of_function(node.args, node.body, self.scope)
        self.generator.append(isinstance(node, ast.FunctionDef) and _yields(node.body))
        doc, rest = _docstring(node.body)
        body = self.all(rest) or [ast.copy_location(ast.Pass(), node)]
        self.generator.pop()
        self.scope = outer
        start = ast.copy_location(ast.Assign([ast.Name(DEPTH, ast.Store())], self.g("enter", at=node), type_comment=None), node)
        end = self.act("leave", ast.Name(DEPTH, ast.Load()), at=node)
        guarded = ast.copy_location(ast.Try(body, [], [], [end]), node)
        node.body = [*doc, ast.fix_missing_locations(start), ast.fix_missing_locations(guarded)]
        node.decorator_list = decorators
        return [node, self.act("defined", at=node)]

    visit_FunctionDef = function
    visit_AsyncFunctionDef = function

    def visit_Yield(self, node: ast.Yield) -> Any:
        value = self.opt(node.value) or self.text(None)
        if not self.generator or not self.generator[-1]:
            return ast.copy_location(ast.Yield(value), node)
        given = ast.Yield(self.g("suspend", ast.Name(DEPTH, ast.Load()), value, at=node))
        again = ast.NamedExpr(ast.Name(DEPTH, ast.Store()), self.g("enter", at=node))
        return self.g("resume", ast.copy_location(given, node), ast.copy_location(again, node), at=node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> Any:
        node.value = self.g("deleg", self.visit(node.value), at=node)
        return node

    # Classes.

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        decorators = [self.g("deco", self.visit(d), at=d) for d in node.decorator_list]
        outer = self.scope
        self.scope = scopes.of_parameters(node, outer)
        self.parameters(node)
        node.bases = [b if isinstance(b, ast.Starred) else self.g("base", self.visit(b), at=b) for b in node.bases]
        node.keywords = self.all(node.keywords)
        self.scope = scopes.of_class(node, self.scope)
        self.generator.append(False)
        node.body = self.all(node.body)
        self.generator.pop()
        self.scope = outer
        self.used = True
        made = ast.Attribute(ast.Constant(self.placeholder, kind=None), "made", ast.Load())
        ast.copy_location(made, node)
        node.decorator_list = [*decorators, ast.fix_missing_locations(made)]
        return node

    # Statements.

    def turned(self, node: Any) -> Any:
        node = self.generic_visit(node)
        node.body = [self.act("tick", at=node), *node.body]
        return node

    visit_While = turned

    def visit_For(self, node: ast.For) -> Any:
        starred = _starred(node.target)
        node = self.turned(node)
        if starred:
            node.iter = self.g("fed", node.iter, at=node.iter)
        return node

    visit_AsyncFor = turned

    def depth(self) -> Tuple[ast.AST, ...]:
        if self.scope.kind == "function" and self.generator:
            return (ast.Name(DEPTH, ast.Load()),)
        return () if self.scope.kind == "module" else (self.text(-2),)

    def tried(self, node: Any) -> Any:
        node = self.generic_visit(node)
        if node.finalbody:
            node.finalbody = [self.act("unwind", self.text(-2), at=node), *node.finalbody]
        return node

    visit_Try = tried
    visit_TryStar = tried

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        node = self.generic_visit(node)  # type: ignore[assignment]
        node.body = [self.act("unwind", *self.depth(), at=node), *node.body]
        return node

    def visit_withitem(self, node: ast.withitem) -> Any:
        node.context_expr = self.g("cm", self.visit(node.context_expr), at=node.context_expr)
        node.optional_vars = self.opt(node.optional_vars)
        return node

    def visit_Import(self, node: ast.Import) -> Any:
        out = []
        for a in node.names:
            value = self.g("imp", self.text(a.name), self.text(a.asname is not None), at=node)
            out.append(self.bind(a.asname or a.name.split(".")[0], value, node))
        return out

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        if node.module == "__future__":
            return [ast.copy_location(ast.Pass(), node)]
        return [self.bind(a.asname or a.name, self.g("impfrom", self.text(node.module), self.text(a.name), at=node), node) for a in node.names]

    def bind(self, name: str, value: Any, at: ast.AST) -> ast.stmt:
        return ast.fix_missing_locations(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value, type_comment=None), at))

    # Patterns stay as they are: the check left only literals and names in them.

    def visit_MatchValue(self, node: Any) -> Any:
        return node

    def visit_MatchClass(self, node: Any) -> Any:
        self.natives.add(node.cls.id)
        node.patterns = self.all(node.patterns)
        node.kwd_patterns = self.all(node.kwd_patterns)
        return node

    def visit_MatchMapping(self, node: Any) -> Any:
        node.patterns = self.all(node.patterns)
        return node


def _starred(target: ast.AST) -> bool:
    return any(isinstance(n, ast.Starred) for n in ast.walk(target))


def _plain(node: ast.AST) -> bool:
    # What compares without going through anything.
    return isinstance(node, (ast.Constant, ast.JoinedStr)) or isinstance(node, ast.UnaryOp) and _plain(node.operand)


def _small(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, _PLAIN_OPS) and _small(node.left) and _small(node.right)
    return isinstance(node, ast.Constant) and (type(node.value) is float or type(node.value) is int and -(1 << 64) < node.value < 1 << 64)


def _docstring(body: List[ast.stmt]) -> Tuple[List[ast.stmt], List[ast.stmt]]:
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return body[:1], body[1:]
    return [], body


def _yields(body: Sequence[ast.AST]) -> bool:
    stack: List[ast.AST] = list(body)
    while stack:
        n = stack.pop()
        if isinstance(n, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(n, (*scopes.FUNCTIONS, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(n))
    return False


def flags_of(tree: ast.AST) -> int:
    """The compiler's flags that imports from __future__ in tree ask for; SyntaxError for one it does not know."""
    import __future__

    flags = 0
    for n in getattr(tree, "body", []) if isinstance(tree, ast.Module) else []:
        if isinstance(n, ast.ImportFrom) and n.module == "__future__":
            for a in n.names:
                feature = getattr(__future__, a.name, None)
                if a.name not in __future__.all_feature_names or feature is None:
                    raise SyntaxError(f"future feature {a.name} is not defined")
                flags |= feature.compiler_flag
    return flags


def verify(code: types.CodeType, native: FrozenSet[str]) -> None:
    """The last look, at the code itself: no instruction in it asks the interpreter for a built-in that was not meant.

    EvalSyntaxRejected where one does: the text bound and read a built-in's name in one class body, or the rewriting has a fault."""
    names: Set[str] = set(code.co_names) & _BUILTIN_NAMES
    if names - native:
        for i in dis.get_instructions(code):
            if i.opname in _LOADS and isinstance(i.argval, str) and i.argval in names and i.argval not in native:
                raise reject(f"it binds and reads the built-in name {i.argval} in one class body", "")
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            verify(c, native)


_LOADS = frozenset(
    "LOAD_NAME LOAD_GLOBAL LOAD_CLASSDEREF LOAD_FROM_DICT_OR_GLOBALS LOAD_FROM_DICT_OR_DEREF IMPORT_NAME IMPORT_FROM IMPORT_STAR".split()
)
_BUILTIN_NAMES = frozenset(dir(builtins)) - {"__name__", "__debug__"} | {"__builtins__"}


def put(code: types.CodeType, placeholder: str, guard: Any) -> types.CodeType:
    """code with guard where the placeholder stands, in all code inside it."""
    consts: List[Any] = []
    changed = False
    for c in code.co_consts:
        if type(c) is types.CodeType:
            n: Union[Any, Optional[Any]] = put(c, placeholder, guard)
            changed = changed or n is not c
            consts.append(n)
        elif type(c) is str and c == placeholder:
            changed = True
            consts.append(guard)
        else:
            consts.append(c)
    return code.replace(co_consts=tuple(consts)) if changed else code
