"""The writing half of psb.codec: a value becomes tagged bytes and a list of buffers that travel beside them."""

from __future__ import annotations

import struct
import sys
from array import array
from typing import Any, Dict, List, Tuple, Type

from psb import codec_types as types
from psb.codec_types import Record

OUTSIDE = 1 << 16  # bytes; what is as big travels beside the body, uncopied
PACKED = 16  # items; a list of as many ints or floats travels as one array

_N = struct.Struct("<cI")
_INT = struct.Struct("<cq")
_FLOAT = struct.Struct("<cd")
_COMPLEX = struct.Struct("<cdd")
_NAMED = struct.Struct("<cB")
_LITTLE = sys.byteorder == "little"


class Writer:
    """Writes one value; `buffers` are the views that belong to it, with "is to arrive writable"."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.out = bytearray()
        self.buffers: List[Tuple[memoryview, bool]] = []
        self.path: Dict[int, Any] = {}  # filled only once the depth is reached, to tell a cycle from a deep value
        self.tracing = False

    def write(self, value: object) -> bytearray:
        """The body. TypeError and ValueError as psb.codec.encode says."""
        try:
            self.put(value, 0)
        except (_Deep, RecursionError):
            self.out, self.buffers, self.tracing = bytearray(), [], True
            try:
                self.put(value, 0)
            except (_Deep, RecursionError):
                pass
            raise ValueError(f"psb: the value is nested more than {self.depth} deep") from None
        return self.out

    def put(self, x: Any, depth: int) -> None:
        """Append one value."""
        t: Type[Any] = type(x)
        out = self.out
        if t is str:
            self.text(x)
        elif t is int:
            if -0x8000000000000000 <= x < 0x8000000000000000:
                out += _INT.pack(b"i", x)
            else:
                raw = x.to_bytes(x.bit_length() // 8 + 1, "little", signed=True)
                self.raw(b"I", raw)
        elif x is None:
            out += b"N"
        elif t is bool:
            out += b"T" if x else b"F"
        elif t is float:
            out += _FLOAT.pack(b"d", x)
        elif t is tuple:
            self.items(b"(", x, depth)
        elif t is dict:
            self.pairs(x, depth)
        elif t is list:
            self.items(b"[", x, depth)
        elif t is bytes:
            self.raw(b"b", x)
        else:
            self.rare(t, x, depth)

    def text(self, x: str) -> None:
        try:
            raw = x.encode()
        except UnicodeEncodeError:
            raw = x.encode("utf-8", "surrogatepass")
        self.raw(b"s", raw)

    def raw(self, tag: bytes, data: Any) -> None:
        n = len(data)
        if n < OUTSIDE:
            self.out += _N.pack(tag, n)
            self.out += data
        else:
            self.beside(tag, memoryview(data), False)

    def beside(self, tag: bytes, view: memoryview, writable: bool) -> None:
        # The same tag in upper half: its bytes are buffer number n.
        self.out += _N.pack(bytes((tag[0] | 0x80,)), len(self.buffers))
        self.buffers.append((view, writable))

    def enter(self, x: Any, depth: int) -> None:
        if depth >= self.depth:
            raise _Deep
        if self.tracing:
            if id(x) in self.path:
                raise TypeError(f"psb cannot send a {types.title(type(x))} that contains itself")
            self.path[id(x)] = x

    def leave(self, x: Any) -> None:
        if self.tracing:
            self.path.pop(id(x), None)

    def items(self, tag: bytes, x: Any, depth: int) -> None:
        n = len(x)
        if n >= PACKED and _LITTLE and self.packed(tag, x):
            return
        self.enter(x, depth)
        self.out += _N.pack(tag, n)
        put = self.put
        depth += 1
        for item in x:
            put(item, depth)
        self.leave(x)

    def packed(self, tag: bytes, x: Any) -> bool:
        t = type(x[0])
        if (t is not int and t is not float) or len(set(map(type, x))) != 1:
            return False
        try:
            whole = array("q" if t is int else "d", x)
        except OverflowError:
            return False
        self.out += tag.translate(_PACKS)
        self.out += b"q" if t is int else b"d"
        self.raw(b"b", memoryview(whole).cast("B"))
        return True

    def pairs(self, x: Dict[Any, Any], depth: int) -> None:
        self.enter(x, depth)
        self.out += _N.pack(b"{", len(x))
        put = self.put
        depth += 1
        for key, value in x.items():
            put(key, depth)
            put(value, depth)
        self.leave(x)

    def rare(self, t: Type[Any], x: Any, depth: int) -> None:
        if t is set or t is frozenset:
            self.items(b"<" if t is set else b">", tuple(x), depth)
        elif t is bytearray:
            if len(x) < OUTSIDE:
                self.raw(b"a", x)
            else:
                self.beside(b"a", memoryview(x), True)
        elif t is complex:
            self.out += _COMPLEX.pack(b"c", x.real, x.imag)
        elif x is ...:
            self.out += b"."
        elif t is memoryview:
            self.view(x, depth)
        else:
            self.other(t, x, depth)

    def view(self, x: memoryview, depth: int) -> None:
        if not x.c_contiguous:
            raise TypeError("psb cannot send a memoryview whose bytes do not follow each other")
        self.out += b"m"
        self.put((x.format, x.shape), depth + 1)
        self.raw(b"b", memoryview(b"") if 0 in (x.shape or ()) else x.cast("B"))

    def other(self, t: Type[Any], x: Any, depth: int) -> None:
        name = types.name_of(t)
        form = types.forms.get(name)
        if form is not None and (form.cls is None or form.cls is t):
            self.enter(x, depth)
            self.named(b"x", name, form.to_plain(x), depth)
            self.leave(x)
        elif name == "numpy:ndarray":
            self.numpy(x, depth)
        elif isinstance(x, BaseException):
            from psb import raised

            self.out += b"e"
            self.put(raised.to_plain(x), depth + 1)
        else:
            kind, name, plain = _numpy_scalar(x) if t.__module__ == "numpy" else _record(t, x)
            self.enter(x, depth)
            self.out += b"r"
            self.put((kind, name), depth + 1)
            self.put(plain, depth + 1)
            self.leave(x)

    def named(self, tag: bytes, name: str, plain: Any, depth: int) -> None:
        raw = name.encode()
        if len(raw) > 255:
            raise TypeError(f"psb cannot send a {name}: its name is too long")
        self.out += _NAMED.pack(tag, len(raw))
        self.out += raw
        self.put(plain, depth + 1)

    def numpy(self, x: Any, depth: int) -> None:
        code = x.dtype.str
        if not types.plain_dtype(code):
            raise TypeError(f"psb cannot send a numpy array of {x.dtype}: only of numbers, booleans, times and fixed texts")
        self.out += b"n"
        self.put((code, x.shape), depth + 1)
        if not x.size:
            self.raw(b"a", b"")
            return
        if not x.flags.c_contiguous:
            x = x.copy(order="C")
        flat = memoryview(x.reshape(-1).view("u1"))
        if flat.nbytes < OUTSIDE:
            self.raw(b"a", flat)
        else:
            self.beside(b"a", flat, True)


class _Deep(Exception):
    pass


_PACKS = bytes.maketrans(b"([<>", b"pqPQ")


def _record(t: Type[Any], x: Any) -> Tuple[str, str, Any]:
    if t is Record:
        return x.kind, x.name, x.fields
    enum = sys.modules.get("enum")
    if enum is not None and isinstance(x, enum.Enum):
        return "enum", types.name_of(t), {"name": x._name_, "value": x._value_}
    fields = getattr(t, "__dataclass_fields__", None)
    if type(fields) is dict:
        # As dataclasses.fields says: pseudo-fields (ClassVar, InitVar) are none.
        return "dataclass", types.name_of(t), {n: getattr(x, n) for n, f in fields.items() if f._field_type.name == "_FIELD" and hasattr(x, n)}
    if isinstance(x, tuple) and type(getattr(t, "_fields", None)) is tuple and len(t._fields) == len(x):
        return "namedtuple", types.name_of(t), dict(zip(t._fields, x))
    hint = f"psb.codec.register({t.__qualname__}, to_plain, from_plain) on both sides"
    raise TypeError(f"psb cannot send a value of type {types.title(t)}: it has no plain form; {hint}")


def _numpy_scalar(x: Any) -> Tuple[str, str, Any]:
    code = x.dtype.str if hasattr(x, "dtype") else ""
    if not types.plain_dtype(code) or getattr(x, "shape", None) != ():
        raise TypeError(f"psb cannot send a value of type {types.title(type(x))}: it has no plain form")
    return "numpy", code, x.tobytes()
