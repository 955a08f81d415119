"""One profile as a value: what its lists grant and its limits. Made from a mapping in the shape of [python.eval]."""

from __future__ import annotations

import difflib
import re
from typing import Any, Dict, FrozenSet, Iterable, List, Mapping, NamedTuple, Optional, Pattern, Sequence, Set, Tuple

from psb.evals.modules import grantable, needs_name
from psb.evals.words import BY_NAME, CLOSED, CORE, EXACT, KEYS, METHODS, NEVER, SYNTAX, dunder, syntax_tokens

_TIMES = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class Limits(NamedTuple):
    """The limits of one evaluation: seconds, turns of loops, calls inside calls, nesting and number of nodes, bytes in all."""

    timeout: float = 5.0
    max_iterations: int = 1_000_000
    max_call_depth: int = 20
    max_depth: int = 20
    max_nodes: int = 5_000
    max_alloc: int = 10 << 20


class Names:
    """One list of a profile: exact names, patterns with "*", and denied ones, which win."""

    __slots__ = ("exact", "denied", "patterns", "denials", "tokens", "free", "_known")

    def __init__(self, tokens: Iterable[str], groups: Mapping[str, FrozenSet[str]], hidden: bool = False, free: bool = False) -> None:
        self.free = free  # names of functions and modules, not of attributes
        self.tokens: Tuple[str, ...] = tuple(tokens)
        exact: Set[str] = set()
        denied: Set[str] = set()
        self.patterns: List[Pattern[str]] = []
        self.denials: List[Pattern[str]] = []
        grouped: Set[str] = set()
        for token in self.tokens:
            no = token.startswith("!")
            name = token[1:] if no else token
            if name in groups:
                (denied if no else grouped).update(groups[name])
            elif "*" in name:
                (self.denials if no else self.patterns).append(_pattern(name, no or hidden))
            else:
                (denied if no else exact).add(name)
        self.exact: FrozenSet[str] = frozenset(exact)
        self.denied: FrozenSet[str] = frozenset(denied)
        self._known: Dict[str, bool] = {n: True for n in grouped if n not in EXACT}
        for n in list(self._known):
            self._known[n] = not self.denies(n)

    def denies(self, name: str) -> bool:
        """Whether a "!" entry names it."""
        return name in self.denied or any(p.match(name) for p in self.denials)

    def __contains__(self, name: object) -> bool:
        known = self._known.get(name)  # type: ignore[call-overload]
        if known is None:
            known = self._judge(str(name))
            if len(self._known) < 10_000:
                self._known[str(name)] = known
        return bool(known)

    def _judge(self, name: str) -> bool:
        if self.denies(name) or name in CLOSED:
            return False
        if name in self.exact:
            return True
        if name in EXACT and not self.free:
            return False
        return any(p.match(name) for p in self.patterns)

    def below(self, name: str) -> bool:
        """Whether a pattern grants name that spells the package out: "google.*"."""
        top = name.split(".")[0] + "."
        return any(t.startswith(top) for t in self.tokens if "*" in t)

    def exactly(self, name: str) -> bool:
        """Whether its own name, no pattern, grants it."""
        return name in self.exact and not self.denies(name) and name not in CLOSED


def _pattern(text: str, hidden: bool) -> Pattern[str]:
    # As in a shell: a star at the front of a grant does not stand for a leading underscore.
    body = ".*".join(re.escape(part) for part in text.split("*"))
    return re.compile(("(?!_)" if text.startswith("*") and not hidden else "") + body + r"\Z")


class Rules:
    """A profile. `name` is "" for [python.eval] itself; `given` is one that the program itself passed, not the policy's."""

    __slots__ = ("given", "name", "syntax", "call", "attribute", "imports", "magic", "namespace", "limits", "nodes", "key", "_lists")

    def __init__(self, mapping: Mapping[str, Any], name: str = "", given: bool = False) -> None:
        problems: List[str] = []
        lists = {key: _tokens(mapping.get(key, ()), key, problems) for key in KEYS}
        for key in mapping:
            if key not in _ALL:
                problems.append(f"unknown key {key!r}{near(str(key), _ALL)}")
        problems += _unknown(lists)
        values = dict(_values(mapping, problems))
        self.namespace = str(mapping.get("namespace", "adaptive"))
        if self.namespace not in ("adaptive", "closed", "caller"):
            problems.append(f"unknown namespace {self.namespace!r}, valid: adaptive closed caller")
        self.name, self.given = name, given
        if problems:
            raise ValueError(f"psb: {self.table}: " + "; ".join(problems))
        self.limits = Limits(**values)
        self._lists = lists
        self.nodes = _nodes(lists["syntax"])
        self.syntax = lists["syntax"]
        self.call = Names(lists["call"], {}, free=True)
        self.attribute = Names(lists["attribute"], METHODS)
        self.imports = Names(lists["import"], {}, free=True)
        self.magic = Names(lists["magic"], {}, hidden=True)
        self.key = (name, self.namespace, self.limits, tuple(tuple(v) for v in lists.values()))

    @property
    def table(self) -> str:
        """The table of the policy that holds this profile."""
        return f"[python.eval.{self.name}]" if self.name else "[python.eval]"

    def fix(self, key: str, token: str) -> str:
        """What to type so that token is granted, "" where a "!" entry or nothing can."""
        have = self._lists[key]
        names = {"call": self.call, "attribute": self.attribute, "import": self.imports, "magic": self.magic}.get(key)
        if "!" + token in have or names is not None and names.denies(token):
            return ""
        if self.given:
            return f"rules[{_quoted(key)}] = [{', '.join(_quoted(t) for t in [*have, token])}]"
        return f"psb policy add eval {self.name}{'/' if self.name else ''}{key}:{token}"

    def raised(self, limit: str, to: int) -> str:
        """What to type so that a limit is higher."""
        return f"rules[{_quoted(limit)}] = {to}" if self.given else f"edit {self.table}: {limit} = {to}"

    def builtin(self, name: str) -> bool:
        """Whether text may have the built-in of that name."""
        if name in NEVER:
            return False
        return self.call.exactly(name) if name in BY_NAME else name in self.call

    def module(self, name: str) -> bool:
        """Whether text may import the module of that dotted name."""
        if name == "__future__":
            return True  # tells the compiler something, no module comes of it
        if not grantable(name) or name not in self.imports:
            return False
        return not needs_name(name) or self.imports.exactly(name) or self.imports.below(name)

    def reads(self, name: str) -> bool:
        """Whether text may read the attribute name of any object."""
        return name in (self.magic if dunder(name) else self.attribute)


_ALL = (*KEYS, "namespace", *Limits._fields)


def _quoted(token: str) -> str:
    return '"' + token.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _tokens(value: Any, key: str, problems: List[str]) -> List[str]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        problems.append(f"{key} must be a list of names, not {value!r}")
        return []
    out: List[str] = []
    for token in value:
        if not isinstance(token, str) or not token.lstrip("!") or token.count("!") > 1:
            problems.append(f"{key}: {token!r} is no name")
        elif token not in out:
            out.append(token)
    return out


def near(word: str, words: Iterable[str]) -> str:
    """', did you mean "x"?' where one of words is near."""
    found = difflib.get_close_matches(word, list(words), 1, 0.6)
    return f', did you mean "{found[0]}"?' if found else ""


def _unknown(lists: Mapping[str, Sequence[str]]) -> List[str]:
    out = []
    for token in lists["syntax"]:
        name = token.lstrip("!")
        if name not in SYNTAX and name not in syntax_tokens():
            out.append(f"syntax: unknown {name!r}{near(name, syntax_tokens())}")
    for key in KEYS[1:]:
        for token in lists[key]:
            name = token.lstrip("!")
            parts = name.replace("*", "x").split(".") if key == "import" else [name.replace("*", "x")]
            if key == "attribute" and name in METHODS:
                continue
            if not all(p.isidentifier() for p in parts):
                out.append(f"{key}: {name!r} is no name{near(name, METHODS) if key == 'attribute' else ''}")
            elif token.startswith("!") or "*" in name:
                continue
            elif key == "magic" and not dunder(name):
                out.append(f"magic: {name!r} is no name of the form __name__")
            elif key in ("attribute", "magic") and name in CLOSED:
                out.append(f"{key}: {name!r} is never granted: it leads out of the evaluation")
            elif key == "import" and not grantable(name):
                out.append(f"import: {name!r} is never granted: it undoes the guard")
            elif key == "call" and name in NEVER:
                out.append(f"call: {name!r} is never granted: it acts on the frame that calls it, or past the rules")
    return out


def _nodes(tokens: Sequence[str]) -> FrozenSet[str]:
    yes: Set[str] = set(CORE)
    no: Set[str] = set()
    for token in tokens:
        name = token.lstrip("!")
        (no if token.startswith("!") else yes).update(SYNTAX.get(name, (name,)))
    return frozenset(yes - no)


def _values(mapping: Mapping[str, Any], problems: List[str]) -> Iterable[Tuple[str, Any]]:
    for key in Limits._fields:
        if key not in mapping:
            continue
        value = mapping[key]
        parsed: Optional[float] = None
        if key == "timeout":
            parsed = _measure(value, r"(\d+(?:\.\d+)?)(ms|s|m|h)", _TIMES)
        elif key == "max_alloc":
            parsed = _measure(value, r"(\d+)([KMGT]?)", _SIZES)
        else:
            parsed = _measure(value, r"(\d+)()", {"": 1})
        if parsed is None or parsed <= 0:
            what = {"timeout": "a time such as 5s", "max_alloc": "a size such as 10M"}.get(key, "a whole number from 1")
            problems.append(f"{key} must be {what}, not {value!r}")
        else:
            yield key, parsed if key == "timeout" else int(parsed)


def _measure(value: Any, form: str, units: Mapping[str, float]) -> Optional[float]:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value) if isinstance(value, float) else value
    m = re.fullmatch(form, value.replace("_", "")) if isinstance(value, str) else None
    return float(m[1]) * units[m[2]] if m and "." in m[1] else int(m[1]) * units[m[2]] if m else None
