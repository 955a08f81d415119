"""What psb.codec knows of types: the fixed table of the standard library's values, registered types, and what a receiver may build."""

from __future__ import annotations

import sys
import typing
from typing import Any, Callable, Dict, Iterable, Iterator, NamedTuple, Optional, Tuple, Type

from psb import codec_loaded

Known = Callable[[str], Optional[type]]
"""Gives the receiver's own class for a sender's name "module:qualname", or None."""

_DTYPE = r"[<>|=](b1|[iu][1248]|f[248]|f1[26]|c8|c16|c24|c32|[SU][0-9]{1,9}|[mM]8(\[[0-9]{0,6}[A-Za-zμ]{1,4}\])?)\Z"


def plain_dtype(code: str) -> bool:
    """Whether numpy's name of a type is of numbers, booleans, times or fixed texts."""
    import re

    return re.match(_DTYPE, code) is not None



class Budget(NamedTuple):
    """What one message may cost its receiver: bytes on the way and, roughly, in memory; how deep values may stand in each other."""

    size: int = 1 << 30
    depth: int = 200


class Record:
    """A dataclass, named tuple or enum member whose class the receiver neither registered nor named: its fields are there, no method is."""

    __slots__ = ("kind", "name", "fields")

    def __init__(self, kind: str, name: str, fields: Any) -> None:
        self.kind = kind
        self.name = name
        self.fields = fields

    def __getattr__(self, name: str) -> Any:
        fields = object.__getattribute__(self, "fields")
        if type(fields) is dict and name in fields:
            return fields[name]
        raise AttributeError(f"the record of {self.name} has no field {name!r}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not Record:
            return NotImplemented
        return (self.kind, self.name, self.fields) == (other.kind, other.name, other.fields)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(f"{k}={v!r}" for k, v in self.fields.items()) if type(self.fields) is dict else repr(self.fields)
        return f"<record of {self.name}: {fields}>"


class Form(NamedTuple):
    """How a class becomes a plain value and comes back. Without `cls` the name says which class of the standard library it is."""

    cls: Optional[type]
    to_plain: Callable[[Any], Any]
    from_plain: Callable[[Any], Any]


def name_of(cls: Type[Any]) -> str:
    """The name under which a class travels. A program's main module has three names; here it has one."""
    module = str(cls.__module__)
    if module in ("__mp_main__", "__psb_main__"):
        module = "__main__"
    return f"{module}:{cls.__qualname__}"


def title(cls: Type[Any]) -> str:
    """A class as messages name it."""
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def register(
    cls: type,
    to_plain: Optional[Callable[[Any], Any]] = None,
    from_plain: Optional[Callable[[Any], Any]] = None,
    name: Optional[str] = None,
) -> None:
    """Let objects of exactly this class travel: to_plain gives a value that can be sent, from_plain the object for it.

    Both sides register it, under one name ("module:qualname" unless given). from_plain runs on what an untrusted sender chose: it checks.
    A dataclass, named tuple, enum or exception needs neither function: registered, it arrives as itself and not as a Record."""
    called = name or name_of(cls)
    if to_plain is None and from_plain is None:
        registered[called] = cls
        return
    if to_plain is None or from_plain is None:
        raise TypeError("psb.codec.register takes both to_plain and from_plain, or neither")
    forms[called] = Form(cls, to_plain, from_plain)
    if name:
        forms[name_of(cls)] = Form(cls, to_plain, from_plain)


def known_of(*hints: Any) -> Dict[str, type]:
    """The dataclasses, named tuples and enums in annotations, with those in their own fields, by name: `known_of(Result).get` is a Known."""
    found: Dict[str, type] = {}
    for cls in _classes(hints, 0):
        if name_of(cls) not in found and _is_record(cls):
            found[name_of(cls)] = cls
            found.update((n, c) for n, c in _fields_of(cls, found).items() if n not in found)
    return found


def _fields_of(cls: type, found: Dict[str, type]) -> Dict[str, type]:
    try:
        hints = typing.get_type_hints(cls)
    except Exception:  # an annotation that names nothing is the program's matter
        return {}
    more = [c for c in _classes(hints.values(), 0) if name_of(c) not in found]
    out: Dict[str, type] = {}
    for c in more:
        if _is_record(c) and name_of(c) not in out:
            out[name_of(c)] = c
            out.update(_fields_of(c, {**found, **out}))
    return out


def _is_record(cls: type) -> bool:
    enum = sys.modules.get("enum")
    return (
        hasattr(cls, "__dataclass_fields__")
        or (issubclass(cls, tuple) and hasattr(cls, "_fields"))
        or (enum is not None and issubclass(cls, enum.Enum))
    )


def _classes(hints: Iterable[Any], depth: int) -> Iterator[type]:
    for h in hints:
        if isinstance(h, type) and not getattr(h, "__args__", ()):
            yield h
        elif depth < 16:
            inner = getattr(h, "__args__", ())
            if isinstance(inner, tuple):
                yield from _classes(inner, depth + 1)


registered: Dict[str, type] = {}


_module = codec_loaded.get


def _made(module: str, name: str) -> Callable[[Any], Any]:
    # One of our own names: nothing here comes from the sender.
    return lambda plain: getattr(_module(module), name)(plain)


def _small(plain: Any, limit: int) -> str:
    if type(plain) is not str or len(plain) > limit:
        raise ValueError("no text of the length that is allowed")
    return plain


def _zone(plain: Any) -> Any:
    return codec_loaded.zone(_small(plain, 200))


def _zone_key(z: Any) -> str:
    if not z.key:
        raise TypeError("psb cannot send a zoneinfo.ZoneInfo without a key")
    return str(z.key)


def _fixed_zone(plain: Any) -> Any:
    dt = _module("datetime")
    if type(plain) is not tuple or not plain or type(plain[0]) is not dt.timedelta:
        raise ValueError("no time zone")
    return dt.timezone(*plain)


def _datetime(plain: Any) -> Any:
    parts, zone, fold = plain
    dt = _module("datetime")
    return dt.datetime(*_ints(parts, 7), tzinfo=_tzinfo(zone), fold=fold)


def _time(plain: Any) -> Any:
    parts, zone, fold = plain
    return _module("datetime").time(*_ints(parts, 4), tzinfo=_tzinfo(zone), fold=fold)


def _tzinfo(zone: Any) -> Any:
    if zone is not None and not isinstance(zone, _module("datetime").tzinfo):
        raise ValueError("no time zone")
    return zone


def _ints(plain: Any, n: int) -> Tuple[int, ...]:
    if type(plain) is not tuple or len(plain) != n or set(map(type, plain)) != {int}:
        raise ValueError("not the integers that are expected")
    return plain


def _delta(plain: Any) -> Any:
    return _module("datetime").timedelta(*_ints(plain, 3))


def _fraction(plain: Any) -> Any:
    n, d = _ints(plain, 2)
    if n.bit_length() > _BITS or d.bit_length() > _BITS:
        raise ValueError("a fraction of numbers that big")
    return _module("fractions").Fraction(n, d)


def _fraction_plain(x: Any) -> Tuple[int, int]:
    if x.numerator.bit_length() > _BITS or x.denominator.bit_length() > _BITS:
        raise ValueError(f"psb: a fraction of numbers above {_BITS} bits cannot be sent")
    return x.numerator, x.denominator


_BITS = 1 << 16


def _counter(plain: Any) -> Any:
    if type(plain) is not dict:
        raise ValueError("no dict")
    counter = _module("collections").Counter()
    dict.update(counter, plain)
    return counter


def _ordered(plain: Any) -> Any:
    if type(plain) is not dict:
        raise ValueError("no dict")
    return _module("collections").OrderedDict(plain)


def _default(x: Any) -> Dict[Any, Any]:
    if x.default_factory is not None:
        raise TypeError("psb cannot send a collections.defaultdict with a factory: a factory is code; send dict(it)")
    return dict(x)


def _defaultdict(plain: Any) -> Any:
    if type(plain) is not dict:
        raise ValueError("no dict")
    return _module("collections").defaultdict(None, plain)


def _deque(plain: Any) -> Any:
    items, longest = plain
    if type(items) is not list or type(longest) not in (int, type(None)):
        raise ValueError("no deque")
    return _module("collections").deque(items, longest)


def _array(plain: Any) -> Any:
    code, raw = plain
    if code not in ("b", "B", "u", "h", "H", "i", "I", "l", "L", "q", "Q", "f", "d"):
        raise ValueError("no typecode")
    a = _module("array").array(code)
    if code == "u":
        a.fromunicode(_small(raw, 1 << 28))
    else:
        a.frombytes(raw)
    return a


def _slice(plain: Any) -> slice:
    start, stop, step = plain
    return slice(start, stop, step)


def _uuid(plain: Any) -> Any:
    return _module("uuid").UUID(int=_ints(plain, 1)[0])


def _struct_time(plain: Any) -> Any:
    fields, zone, offset = plain
    return _module("time").struct_time((*_ints(fields, 9), zone, offset))


def _text_of(module: str, *names: str, limit: int = 4096) -> Dict[str, Form]:
    return {f"{module}:{n}": Form(None, str, _from_text(module, n, limit)) for n in names}


def _from_text(module: str, name: str, limit: int) -> Callable[[Any], Any]:
    make = _made(module, name)
    return lambda plain: make(_small(plain, limit))


def _stamp(x: Any) -> Any:
    return (x.year, x.month, x.day, x.hour, x.minute, x.second, x.microsecond), x.tzinfo, x.fold


forms: Dict[str, Form] = {
    "builtins:range": Form(None, lambda x: (x.start, x.stop, x.step), lambda p: range(*_ints(p, 3))),
    "builtins:slice": Form(None, lambda x: (x.start, x.stop, x.step), _slice),
    "datetime:date": Form(None, lambda x: (x.year, x.month, x.day), lambda p: _module("datetime").date(*_ints(p, 3))),
    "datetime:datetime": Form(None, _stamp, _datetime),
    "datetime:time": Form(None, lambda x: ((x.hour, x.minute, x.second, x.microsecond), x.tzinfo, x.fold), _time),
    "datetime:timedelta": Form(None, lambda x: (x.days, x.seconds, x.microseconds), _delta),
    "datetime:timezone": Form(None, lambda x: x.__getinitargs__(), _fixed_zone),
    "zoneinfo:ZoneInfo": Form(None, _zone_key, _zone),
    "fractions:Fraction": Form(None, _fraction_plain, _fraction),
    "uuid:UUID": Form(None, lambda x: (x.int,), _uuid),
    "collections:OrderedDict": Form(None, dict, _ordered),
    "collections:Counter": Form(None, dict, _counter),
    "collections:defaultdict": Form(None, _default, _defaultdict),
    "collections:deque": Form(None, lambda x: (list(x), x.maxlen), _deque),
    "array:array": Form(None, lambda x: (x.typecode, x.tounicode() if x.typecode == "u" else x.tobytes()), _array),
    "time:struct_time": Form(None, lambda x: (tuple(x), x.tm_zone, x.tm_gmtoff), _struct_time),
    **_text_of("decimal", "Decimal", limit=1 << 20),
    **_text_of("pathlib", "PurePath", "PurePosixPath", "PureWindowsPath", "Path", "PosixPath", limit=1 << 16),
    **_text_of("ipaddress", "IPv4Address", "IPv6Address", "IPv4Network", "IPv6Network", "IPv4Interface", "IPv6Interface"),
}
# pathlib's classes live in pathlib._local from 3.13 on; they travel under the one name.
_ALIASES = {"pathlib._local": "pathlib", "pathlib._abc": "pathlib", "_decimal": "decimal", "_pydatetime": "datetime", "_pydecimal": "decimal"}
for _private, _public in _ALIASES.items():
    for _name, _form in list(forms.items()):
        if _name.startswith(_public + ":"):
            forms[_private + _name[len(_public) :]] = _form


def build(name: str, plain: Any, trusted: bool) -> Any:
    """The value of a form, or a Record where its class is none here. Only a trusted sender's word imports a module."""
    form = forms.get(name)
    if form is None:
        return Record("value", name, plain)
    if form.cls is None:
        module = name.partition(":")[0]
        module = _ALIASES.get(module, module)
        if trusted:
            _import(module, plain)
        if codec_loaded.find(module) is None:
            return Record("value", name, plain)
    return form.from_plain(plain)


def _import(module: str, plain: Any) -> None:
    from importlib import import_module

    try:
        made = import_module(module)
        if module == "zoneinfo":
            made.ZoneInfo(plain)  # loads the package tzdata where the system has no such zone
    except Exception:  # not of this version: a record, or the form's own refusal
        pass
