"""The reading half of psb.codec. What it reads was chosen by somebody who is not trusted: every length is checked before it is believed,
what a message may make the reader allocate is counted, and whatever is wrong ends in SandBoxProtocolError."""

from __future__ import annotations

import struct
import sys
from array import array
from collections import deque
from importlib import import_module
from itertools import islice
from time import thread_time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple
from weakref import WeakKeyDictionary

from psb import codec_types as types, raised
from psb.codec_types import Budget, Known, Record
from psb.errors import SandBoxProtocolError

MAX_DEPTH = Budget().depth

_COST = 128  # bytes that a value is taken to cost in memory
_BIG = 512  # ... a set or a dict, even an empty one
_FEW = 128  # keys of one table, which cost little however they were chosen
_PROBES = 1 << 23  # slots of a table that may be looked at before the clock is
_SPARE = 0.5  # seconds of the processor that a message's tables may take beside the next two
_EACH = 2e-6  # ... for each key; several times what a big table's keys take whose slots are all over the memory
_HASHES = 4  # ... times what hashing the keys takes: comparing them may take as long
_FLAGS = 4096  # bits of an enum.Flag; the refusal of one shows its digits
_COMBINED = 1 << 10  # combinations of a Flag's members that peers may have it keep; up to 3.10 each is compared with all of them
_SHORT = 1 << 16  # bytes of a text that may be decoded before it is known what it takes
_U32 = struct.Struct("<I")
_INT = struct.Struct("<q")
_FLOAT = struct.Struct("<d")
_COMPLEX = struct.Struct("<dd")
_LITTLE = sys.byteorder == "little"


class Message(NamedTuple):
    """A frame's body and buffers, and what may become of them."""

    body: bytes
    buffers: Sequence[Any]
    known: Optional[Known]
    budget: Budget


def read_value(m: Message) -> Any:
    """The value, or SandBoxProtocolError."""
    r = _Reader(m)
    try:
        value = r.value(0)
    except SandBoxProtocolError:
        raise
    except RecursionError:
        raise SandBoxProtocolError("psb: a message is nested too deeply") from None
    except Exception as e:  # a constructor refused what the sender chose
        raise SandBoxProtocolError(f"psb: a message holds what is no value: {type(e).__name__}: {str(e)[:200]}") from None
    if r.at != len(m.body):
        raise SandBoxProtocolError("psb: a message goes on after its value")
    if r.used != len(m.buffers):
        raise SandBoxProtocolError("psb: a message brings buffers that its value does not use")
    return value


class _Reader:
    def __init__(self, m: Message) -> None:
        self.body = m.body
        self.at = 0
        self.buffers = m.buffers
        self.used = 0
        self.known = m.known
        self.depth = m.budget.depth
        self.spare = _SPARE
        # What its bytes become: an int of 5 bytes is one object. Buffers count as themselves.
        self.left = m.budget.size - len(m.body) - sum(len(b) for b in m.buffers)

    def value(self, depth: int) -> Any:
        body, at = self.body, self.at
        if at >= len(body):
            raise SandBoxProtocolError("psb: a message ends before its value does")
        tag = body[at]
        self.at = at + 1
        if tag == 0x73:  # s, the most frequent ones first
            return self.text()
        if tag == 0x69:  # i
            self.at = at + 9
            return _INT.unpack_from(body, at + 1)[0]
        if tag == 0x4E:  # N
            return None
        read = _TAGS.get(tag)
        if read is None:
            raise SandBoxProtocolError(f"psb: a message holds the unknown tag {tag}")
        return read(self, depth)

    def length(self) -> int:
        at = self.at
        self.at = at + 4
        return int(_U32.unpack_from(self.body, at)[0])

    def raw(self, _: int = 0) -> bytes:
        n = self.length()
        at = self.at
        if n > len(self.body) - at:
            raise SandBoxProtocolError("psb: a message ends before its value does")
        self.at = at + n
        self.charge(n)  # a copy
        return self.body[at : at + n]

    def text(self, _: int = 0) -> str:
        raw = self.raw()
        return raw.decode() if raw.isascii() else self.wide(raw)

    def wide(self, raw: bytes) -> str:
        # A character takes as much as the widest of its text: four times as many bytes as came, for the sake of one.
        most = (3 if any(lead in raw for lead in _WIDEST) else 1) * len(raw)
        if len(raw) > _SHORT:
            self.charge(most)
            self.left += most
        text = _text(raw)
        self.charge(max(0, sys.getsizeof(text) - len(raw)))
        return text

    def buffer(self) -> Any:
        # In the order they came, each once: nobody multiplies one buffer by naming it often.
        if self.length() != self.used or self.used >= len(self.buffers):
            raise SandBoxProtocolError("psb: a message names a buffer that is not its next one")
        self.used += 1
        return self.buffers[self.used - 1]

    def charge(self, cost: int) -> None:
        self.left -= cost
        if self.left < 0:
            raise SandBoxProtocolError("psb: a message's value is bigger than its receiver allows")

    def count(self, depth: int, each: int) -> int:
        n = self.length()
        if depth >= self.depth:
            raise SandBoxProtocolError(f"psb: a message is nested more than {self.depth} deep")
        if n > (len(self.body) - self.at) // each:
            raise SandBoxProtocolError("psb: a message ends before its value does")
        self.charge(_COST * (n * each + 1))
        return n

    def items(self, depth: int) -> List[Any]:
        n = self.count(depth, 1)
        value = self.value
        depth += 1
        return [value(depth) for _ in range(n)]

    def tupled(self, depth: int) -> Any:
        return (*self.items(depth),)

    def pairs(self, depth: int) -> Dict[Any, Any]:
        n = self.count(depth, 2)
        self.charge(_BIG)
        value = self.value
        depth += 1
        pairs = [(value(depth), value(depth)) for _ in range(n)]
        out: Dict[Any, Any] = {}
        if n > _FEW:
            self.insert(out, pairs, [k for k, _ in pairs])
        else:
            out.update(pairs)
        if len(out) != n:
            raise SandBoxProtocolError("psb: a message holds a dict with one key twice")
        return out

    def uniques(self, depth: int) -> Any:
        self.charge(_BIG)
        return self.set_of(self.items(depth))

    def frozen(self, depth: int) -> Any:
        return frozenset(self.uniques(depth))

    def packed(self, depth: int) -> List[Any]:
        code = self.body[self.at : self.at + 1]
        self.at += 1
        if code not in (b"q", b"d"):
            raise SandBoxProtocolError("psb: a message packs what cannot be packed")
        raw = self.value(depth)
        if type(raw) is not bytes:
            raise SandBoxProtocolError("psb: a message packs what cannot be packed")
        self.charge(len(raw) * 5)
        whole = array(code.decode())
        whole.frombytes(raw)
        if not _LITTLE:
            whole.byteswap()
        return whole.tolist()

    def packed_set(self, depth: int) -> Any:
        items = self.packed(depth)
        self.charge(_BIG + 4 * len(items) * 8)
        return self.set_of(items)

    def set_of(self, items: List[Any]) -> Any:
        out: Any = set()
        if len(items) > _FEW:
            self.insert(out, items, items)
        else:
            out.update(items)
        return out

    def insert(self, table: Any, items: List[Any], keys: List[Any]) -> None:
        # Keys can be chosen so that each looks at every slot that those before it took: by equal hashes, or by the order in which a table
        # looks for a free slot. So a table is filled in pieces, ever smaller ones, and may take no more than a time that grows with it.
        start = thread_time()
        deque(map(hash, keys), 0)
        at = thread_time()
        self.spare += _HASHES * (at - start) + _EACH * len(keys)
        fill = table.update
        rest = iter(items)
        done, n = 0, len(items)
        while done < n:
            piece = max(1, min(1024, _PROBES // (done + 1024)))
            fill(islice(rest, piece))
            done += piece
            now = thread_time()
            self.spare -= now - at
            at = now
            if self.spare < 0:
                raise SandBoxProtocolError("psb: a message holds keys that were chosen to clash")

    def big(self, _: int) -> int:
        return int.from_bytes(self.raw(), "little", signed=True)

    def real(self, _: int) -> Any:
        at = self.at
        self.at = at + 8
        return _FLOAT.unpack_from(self.body, at)[0]

    def imaginary(self, _: int) -> Any:
        at = self.at
        self.at = at + 16
        return complex(*_COMPLEX.unpack_from(self.body, at))

    def view(self, depth: int) -> memoryview:
        form, shape = self.value(depth + 1)
        raw = self.value(depth + 1)
        if type(raw) is not bytes or type(form) is not str or type(shape) is not tuple or len(shape) > 64:
            raise SandBoxProtocolError("psb: a message holds a memoryview of no bytes")
        if 0 in shape:
            return memoryview(b"").cast(form)  # an empty one has one shape
        return memoryview(raw).cast(form, shape)

    def form(self, depth: int) -> Any:
        n = self.body[self.at]
        at = self.at + 1
        name = self.body[at : at + n].decode()
        self.at = at + n
        self.deeper(depth)
        plain = self.value(depth + 1)
        self.charge(_BIG)
        return types.build(name, plain, getattr(self.known, "psb_imports", False) is True)

    def deeper(self, depth: int) -> None:
        if depth >= self.depth:
            raise SandBoxProtocolError(f"psb: a message is nested more than {self.depth} deep")

    def array(self, depth: int) -> Any:
        code, shape = self.value(depth + 1)
        raw = self.value(depth + 1)
        if type(code) is not str or not types.plain_dtype(code) or type(raw) is not bytearray or type(shape) is not tuple:
            raise SandBoxProtocolError("psb: a message holds an array of no plain type")
        numpy = _numpy(self.known)
        if numpy is None:
            return Record("value", "numpy:ndarray", {"dtype": code, "shape": shape, "data": raw})
        if len(shape) > 32 or any(type(n) is not int or n < 0 for n in shape):
            raise SandBoxProtocolError("psb: a message holds an array of no shape")
        if not raw:
            if 0 not in shape:
                return _wrong()
            # What is made of its other dimensions is charged, though it holds nothing: the first sum over it takes that much.
            size = int(numpy.dtype(code).itemsize) or 1
            for n in shape:
                size *= n or 1
            self.charge(size)
            return numpy.zeros(0, code).reshape(shape)
        return numpy.frombuffer(raw, code).reshape(shape)

    def exception(self, depth: int) -> Any:
        self.deeper(depth)
        return raised.from_plain(self.value(depth + 1), self.known)

    def record(self, depth: int) -> Any:
        self.deeper(depth)
        head = self.value(depth + 1)
        plain = self.value(depth + 1)
        if type(head) is not tuple or len(head) != 2 or type(head[0]) is not str or type(head[1]) is not str:
            raise SandBoxProtocolError("psb: a message holds a record without a name")
        self.charge(_BIG)
        kind, name = head
        build = _BUILDERS.get(kind)
        if build is None:
            return Record(kind, name, plain)
        if kind == "numpy":
            return build(self.known, name, plain)
        cls = types.registered.get(name)
        if cls is None and self.known is not None:
            cls = self.known(name)
        if cls is not None and raised.finalized(cls):
            cls = None  # its __del__ would run on what the sender chose, also where the message is refused
        return Record(kind, name, plain) if cls is None else build(cls, name, plain)


def _wrong() -> Any:
    raise SandBoxProtocolError("psb: a message holds an array of no shape")


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("utf-8", "surrogatepass")


def _numpy(known: Optional[Known]) -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is None and known is not None and getattr(known, "psb_imports", False):
        try:
            numpy = import_module("numpy")
        except ImportError:
            return None
    return numpy if hasattr(numpy, "frombuffer") else None


def _scalar(known: Any, code: str, plain: Any) -> Any:
    if not types.plain_dtype(code) or type(plain) is not bytes:
        raise SandBoxProtocolError("psb: a message holds a number of no plain type")
    numpy = _numpy(known)
    if numpy is None:
        return Record("numpy", code, plain)
    if not plain:  # an empty text: its type has no size
        if code[1] not in "SU" or code[2:].strip("0"):
            raise SandBoxProtocolError("psb: a message holds a number without its bytes")
        return numpy.bytes_() if code[1] == "S" else numpy.str_()
    values = numpy.frombuffer(plain, code)
    if len(values) != 1:
        raise SandBoxProtocolError("psb: a message holds several numbers as one")
    return values[0]


def _dataclass(cls: Any, name: str, plain: Any) -> Any:
    # As pickle does: no __init__ and no __post_init__ runs, and only declared fields are set.
    fields = {n for n, f in cls.__dataclass_fields__.items() if f._field_type.name == "_FIELD"}
    if type(plain) is not dict or not fields.issuperset(plain):
        raise SandBoxProtocolError(f"psb: a message holds a {name} with other fields than it has here")
    new = object.__new__(cls)
    for field, value in plain.items():
        object.__setattr__(new, field, value)
    return new


def _namedtuple(cls: Any, name: str, plain: Any) -> Any:
    if type(plain) is not dict or tuple(plain) != cls._fields:
        raise SandBoxProtocolError(f"psb: a message holds a {name} with other fields than it has here")
    return tuple.__new__(cls, plain.values())


def _enum(cls: Any, name: str, plain: Any) -> Any:
    if type(plain) is not dict or {*plain} != {"name", "value"}:
        raise SandBoxProtocolError(f"psb: a message holds a {name} without a name")
    member = cls._member_map_.get(plain["name"])
    if member is not None:
        return member
    flag = sys.modules["enum"].Flag
    if issubclass(cls, flag) and type(plain["value"]) is int and plain["value"].bit_length() <= _FLAGS:
        return _combined(cls, name, plain["value"])
    raise SandBoxProtocolError(f"psb: a message holds a {name} that is none here")


def _combined(cls: Any, name: str, value: int) -> Any:
    # A class keeps every combination that it was ever asked for. Those that a peer made up are taken out again where numbers are equal without
    # being one object; where they are not, a peer may have so many kept and no more.
    kept: Dict[Any, Any] = cls._value2member_map_
    if value in kept:
        return kept[value]
    if not issubclass(cls, int) and _made.get(cls, 0) >= _COMBINED:
        raise SandBoxProtocolError(f"psb: messages brought {_COMBINED} combinations of a {name}, and here is another")
    before = len(kept)
    made = cls(value)
    if not issubclass(cls, int):
        _made[cls] = _made.get(cls, 0) + max(1, len(kept) - before)
    else:
        while len(kept) > before:
            kept.popitem()
    return made


_made: "WeakKeyDictionary[type, int]" = WeakKeyDictionary()
_WIDEST = [bytes([n]) for n in range(0xF0, 0xF5)]  # how a character above 0xFFFF begins


_BUILDERS: Dict[str, Callable[[Any, str, Any], Any]] = {"dataclass": _dataclass, "namedtuple": _namedtuple, "enum": _enum, "numpy": _scalar}


def _outside(kind: type) -> Callable[[_Reader, int], Any]:
    def read(r: _Reader, _: int) -> Any:
        data = r.buffer()
        if type(data) is not kind:
            raise SandBoxProtocolError("psb: a message's buffer is not of the kind that its value needs")
        return data

    return read


def _outside_text(r: _Reader, _: int) -> str:
    raw: bytes = _outside(bytes)(r, 0)
    r.charge(len(raw))
    return raw.decode() if raw.isascii() else r.wide(raw)


def _outside_big(r: _Reader, _: int) -> int:
    return int.from_bytes(_outside(bytes)(r, 0), "little", signed=True)


_TAGS: Dict[int, Callable[[_Reader, int], Any]] = {
    ord("T"): lambda r, d: True,
    ord("F"): lambda r, d: False,
    ord("."): lambda r, d: ...,
    ord("I"): _Reader.big,
    ord("d"): _Reader.real,
    ord("c"): _Reader.imaginary,
    ord("b"): _Reader.raw,
    ord("a"): lambda r, d: bytearray(r.raw()),
    ord("("): _Reader.tupled,
    ord("["): _Reader.items,
    ord("{"): _Reader.pairs,
    ord("<"): _Reader.uniques,
    ord(">"): _Reader.frozen,
    ord("p"): lambda r, d: (*r.packed(d),),
    ord("q"): _Reader.packed,
    ord("P"): _Reader.packed_set,
    ord("Q"): lambda r, d: frozenset(r.packed_set(d)),
    ord("m"): _Reader.view,
    ord("x"): _Reader.form,
    ord("n"): _Reader.array,
    ord("e"): _Reader.exception,
    ord("r"): _Reader.record,
    0x80 | ord("b"): _outside(bytes),
    0x80 | ord("a"): _outside(bytearray),
    0x80 | ord("s"): _outside_text,
    0x80 | ord("I"): _outside_big,
}

