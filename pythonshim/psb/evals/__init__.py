"""The engine for evaluated text: rules, a check of the whole text, code in which every step goes through a guard, a child that can be killed.

    psb.guarded_eval("a * 2", names={"a": 21})          # under the profile of the box
    evaluate("eval", source, globals, locals, profile("calc"))   # what the box puts behind the built-ins

It is no boundary: the kernel is. It bounds text that is honest, or hostile only within Python.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple

from psb.evals.rules import Rules

# The shim of a box sets this when it loads the module: the policy's profiles, {"": {...}, "calc": {...}}. None outside a box.
_profiles: Optional[Mapping[str, Mapping[str, Any]]] = None
# And these, for the texts that psb.guarded_eval runs under them: enforcing, what is done with a refusal under a profile; learning, with the
# constructs that a text needs of one. A profile that the program passes itself is its own affair: nobody hears of it.
_told: Optional[Callable[[BaseException, str], None]] = None
_noted: Optional[Callable[[str, Sequence[Tuple[str, str]]], None]] = None
_parsed: Dict[str, Rules] = {}
_given: Dict[Tuple[str, str], Rules] = {}
_of: Any = None


def active() -> Mapping[str, Mapping[str, Any]]:
    """The profiles of the box, by name, "" for [python.eval]; empty outside a box."""
    return _profiles if _profiles is not None else {}


def profile(name: str = "") -> Rules:
    """A profile of the box, parsed once. ValueError: there is none of that name, or it is wrong."""
    global _of
    profiles = active()
    if _of is not profiles:
        _parsed.clear()
        _of = profiles
    found = _parsed.get(name)
    if found is None:
        if name not in profiles:
            have = ", ".join(repr(n) for n in sorted(profiles)) or "none"
            line = f"psb policy add eval {name}{'/' if name else ''}syntax:arith"
            raise ValueError(f"psb: no eval profile {name!r}: the policy of this box has {have}; psb --learn writes one, or begin with {line}")
        found = _parsed[name] = Rules(profiles[name], name)
    return found


def parsed(mapping: Mapping[str, Any], name: str = "") -> Rules:
    """The profile that mapping, with the keys of [python.eval], is; each is read once. ValueError: it is wrong."""
    key = (name, repr(sorted(mapping.items(), key=lambda i: str(i[0]))))
    found = _given.get(key)
    if found is None:
        found = Rules(mapping, name, given=True)
        if len(_given) < 256:
            _given[key] = found
    return found


def __getattr__(name: str) -> Any:
    if name in ("evaluate", "namespaces"):
        from psb.evals import sites

        return getattr(sites, name)
    if name == "constructs":
        from psb.evals.learn import constructs

        return constructs
    raise AttributeError(f"module 'psb.evals' has no attribute {name!r}")
