"""The words of a profile: groups of syntax and of methods, what no profile can grant, what only its exact name grants."""

from __future__ import annotations

import builtins
import datetime
from typing import Dict, FrozenSet, List, Tuple

# Syntax that is always there, and syntax that another key judges (names, attributes, calls, operators inside their nodes). The node
# "comprehension" comes with ListComp and its like alone; as a token the word is their group.
CORE: FrozenSet[str] = frozenset(
    "Module Expression Interactive Constant Name Load Store Del Tuple List Dict Set Expr Pass Attribute Call keyword comprehension "
    "Index ExtSlice Num Str Bytes NameConstant Ellipsis".split()
)

SYNTAX: Dict[str, Tuple[str, ...]] = {
    "arith": ("BinOp", "UnaryOp"),
    "compare": ("Compare", "BoolOp"),
    "conditional": ("If", "IfExp"),
    "loop": ("For", "While", "Break", "Continue"),
    "comprehension": ("ListComp", "SetComp", "DictComp", "GeneratorExp"),
    "assign": ("Assign", "AugAssign", "AnnAssign", "NamedExpr"),
    "func": ("FunctionDef", "Return", "arguments", "arg", "Lambda"),
    "async": ("AsyncFunctionDef", "Await", "AsyncFor", "AsyncWith"),
    "class": ("ClassDef",),
    "exception": ("Try", "TryStar", "Raise", "ExceptHandler"),
    "context": ("With", "withitem"),
    "import": ("Import", "ImportFrom", "alias"),
    "subscript": ("Subscript", "Slice", "Starred"),
    "fstring": ("JoinedStr", "FormattedValue"),
    "tstring": ("TemplateStr", "Interpolation"),
    "yield": ("Yield", "YieldFrom"),
}

# Nodes in no group: each has to be named.
ALONE: Tuple[str, ...] = tuple(
    "Assert Delete Global Nonlocal Match match_case MatchValue MatchSingleton MatchSequence MatchMapping MatchClass MatchStar MatchAs MatchOr "
    "TypeAlias TypeVar ParamSpec TypeVarTuple".split()
)

# Operators and the like stand inside nodes that are judged.
MARKS: FrozenSet[str] = frozenset(
    "And Or Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor BitAnd FloorDiv Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn".split()
)

GROUP_OF: Dict[str, str] = {node: group for group, nodes in SYNTAX.items() for node in nodes}


def _public(*kinds: type) -> FrozenSet[str]:
    return frozenset(n for k in kinds for n in dir(k) if not n.startswith("_") and n not in ("format", "format_map", "mro"))


METHODS: Dict[str, FrozenSet[str]] = {
    "str-methods": _public(str),
    "list-methods": _public(list),
    "dict-methods": _public(dict),
    "set-methods": _public(set, frozenset),
    "tuple-methods": _public(tuple),
    "num-methods": _public(int, float, complex),
    "bytes-methods": _public(bytes, bytearray),
    "date-methods": _public(datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone),
}


def _words(text: str) -> FrozenSet[str]:
    return frozenset(text.split())


# Attributes that no profile grants: each leads to frames, code, globals, other classes' insides or attributes by another way.
CLOSED: FrozenSet[str] = _words(
    "gi_frame gi_code gi_yieldfrom gi_running gi_suspended cr_frame cr_code cr_await cr_origin cr_running cr_suspended ag_frame ag_code ag_await "
    "ag_running ag_suspended f_globals f_locals f_builtins f_back f_trace f_code f_generator f_lasti f_trace_lines f_trace_opcodes tb_frame tb_next "
    "tb_lasti tb_lineno with_traceback co_code co_consts co_names co_varnames evaluate_value evaluate_bound evaluate_constraints evaluate_default "
    "__globals__ __code__ __closure__ __builtins__ __traceback__ __subclasses__ __reduce__ __reduce_ex__ __getstate__ __setstate__ __self__ __func__ "
    "__wrapped__ __getattribute__ __getattr__ __setattr__ __delattr__ __dir__ __loader__ __spec__ __cached__ __file__ __path__ __package__ "
    "__import__ __build_class__ __prepare__ __mro_entries__ __match_args__ __subclasshook__ __instancecheck__ __subclasscheck__ "
    "__set_name__ __get__ __set__ __delete__ __objclass__ __annotations__ __annotate__ __annotate_func__ __annotations_cache__ "
    "__conditional_annotations__ __classdict__ __classcell__ __type_params__ __static_attributes__ __evaluate__ __forward_code__ "
    "__forward_arg__ __forward_evaluated__ __forward_value__ __defaults__ __kwdefaults__ __weakref__ __dataclass_fields__ __post_init__ "
    "__getnewargs__ __getnewargs_ex__ __copy__ __deepcopy__ __text_signature__ __signature__ __abstractmethods__ __origin__ __parameters__ "
    "__orig_bases__ __buffer__ __release_buffer__ __isabstractmethod__ __thisclass__ __self_class__ __sizeof__ __del__"
)

# Attributes of exceptions that refer to objects: on an exception only the exact name grants them.
REFERENCES: FrozenSet[str] = _words("obj name path object value args tb exceptions code name_from")
# Only the exact name grants these, never a pattern or a group.
EXACT: FrozenSet[str] = _words(
    "format format_map mro add_note __dict__ __mro__ __bases__ __base__ __class__ __class_getitem__ __init_subclass__ __cause__ __context__ "
    "__suppress_context__ __notes__ __module__ __call__ __new__ __name__ __qualname__ __doc__ __slots__"
)

# Built-ins that no profile can hand to text: they see the frame that calls them or set attributes.
NEVER: FrozenSet[str] = _words(
    "globals locals setattr delattr breakpoint help exit quit copyright credits license compile __import__ __build_class__ __loader__ __spec__"
)
# Built-ins that only their exact name grants.
BY_NAME: FrozenSet[str] = _words(
    "eval exec open input vars dir getattr hasattr type memoryview id object super print property classmethod staticmethod __debug__"
)

# Built-ins that text only ever gets behind a guard, whatever they are called.
SEEING: FrozenSet[str] = NEVER | _words("eval exec open input vars dir getattr hasattr")

BUILTINS: FrozenSet[str] = frozenset(n for n in dir(builtins) if not n.startswith("_")) | {"__import__", "__build_class__"}

KEYS: Tuple[str, ...] = ("syntax", "call", "attribute", "import", "magic")


def dunder(name: str) -> bool:
    """Whether name has the form of Python's own names."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


def syntax_tokens() -> List[str]:
    """Every token that the key "syntax" takes."""
    return [*SYNTAX, *GROUP_OF, *ALONE, *sorted(CORE)]


# Methods that text gets only behind a guard: they read attributes named in a text, or take memory that their arguments say.
GUARDED: FrozenSet[str] = _words(
    "format format_map join replace zfill ljust rjust center expandtabs translate encode decode split rsplit splitlines upper lower title swapcase casefold "
    "capitalize strip lstrip rstrip removeprefix removesuffix hex to_bytes extend append insert copy fromkeys update setdefault add union intersection "
    "difference symmetric_difference intersection_update difference_update symmetric_difference_update issubset issuperset isdisjoint partition rpartition "
    "sort fromhex maketrans count index"
)
