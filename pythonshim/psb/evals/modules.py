"""Modules as text sees them: a view that gives what the profile names, never a module inside, never a door around the guard."""

from __future__ import annotations

import types
from typing import Any, Dict, FrozenSet


def _words(text: str) -> FrozenSet[str]:
    return frozenset(text.split())


# Modules that undo the guard whatever is taken from them.
CLOSED_MODULES = _words(
    "builtins gc ctypes importlib imp marshal pickle pickletools shelve dbm copyreg code codeop pdb bdb trace traceback dis opcode runpy pkgutil zipimport "
    "interpreters concurrent faulthandler tracemalloc pydoc doctest timeit profile cProfile pstats site idlelib rlcompleter atexit weakref annotationlib "
    "symtable modulefinder psb pysandboxes encodings cffi dill cloudpickle joblib jsonpickle"
)

# Modules of the standard library that a pattern grants: they compute, and open nothing. Every other module has to be named, or the package it is in.
PURE = _words(
    "math cmath decimal fractions statistics numbers random datetime calendar collections itertools functools operator enum dataclasses copy heapq bisect array "
    "json re string textwrap unicodedata difflib hashlib hmac base64 binascii uuid struct pprint html keyword colorsys graphlib time zoneinfo collections.abc"
)

# Of these modules only the listed names are given.
ONLY: Dict[str, FrozenSet[str]] = {
    "sys": _words(
        "byteorder float_info int_info hash_info maxsize maxunicode version version_info hexversion implementation platform api_version getsizeof"
    ),
    "inspect": _words("cleandoc isclass isfunction isbuiltin ismethod isroutine isgenerator iscoroutine isgeneratorfunction iscoroutinefunction"),
    "types": _words("SimpleNamespace MappingProxyType NoneType EllipsisType NotImplementedType UnionType"),
    "ast": _words("literal_eval"),
    "copy": _words("copy deepcopy Error"),
    "functools": _words("reduce partial cmp_to_key lru_cache cache"),
    "dataclasses": _words("dataclass field fields asdict astuple is_dataclass FrozenInstanceError MISSING KW_ONLY InitVar"),
    "json": _words("dumps loads JSONDecodeError"),
    "string": _words("ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits printable punctuation whitespace capwords Formatter"),
    "contextlib": _words("suppress nullcontext"),
    "typing": _words(
        "Any Union Optional List Dict Set FrozenSet Tuple Callable Type Iterable Iterator Sequence Mapping Literal Final ClassVar NoReturn Never NewType "
        "TypeVar Generic Protocol cast overload final Text AnyStr Annotated Collection Container Hashable Sized Counter Deque DefaultDict OrderedDict "
        "get_origin get_args runtime_checkable SupportsInt SupportsFloat SupportsAbs SupportsIndex TYPE_CHECKING"
    ),
    "operator": _words(
        "attrgetter itemgetter methodcaller add sub mul truediv floordiv mod pow matmul lshift rshift and_ or_ xor neg pos abs invert inv not_ truth is_ is_not "
        "lt le eq ne ge gt contains countOf indexOf getitem setitem delitem concat iadd isub imul itruediv ifloordiv imod ipow ilshift irshift iand ior ixor "
        "iconcat index length_hint"
    ),
    "abc": _words("ABC abstractmethod"),
    "collections": _words("namedtuple deque ChainMap Counter OrderedDict defaultdict"),
    "io": _words("StringIO BytesIO SEEK_SET SEEK_CUR SEEK_END UnsupportedOperation"),
    "enum": _words("Enum IntEnum Flag IntFlag StrEnum auto unique"),
    "random": _words(
        "random uniform triangular randint randrange choice sample shuffle betavariate expovariate gammavariate gauss lognormvariate normalvariate "
        "vonmisesvariate paretovariate weibullvariate Random choices"
    ),
    # Of these, what changes nothing for the rest of the program and asks nothing outside.
    "time": _words(
        "time time_ns monotonic monotonic_ns perf_counter gmtime localtime mktime strftime strptime ctime asctime struct_time timezone tzname daylight"
    ),
    "decimal": _words(
        "Decimal Context ROUND_CEILING ROUND_FLOOR ROUND_UP ROUND_DOWN ROUND_HALF_UP ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_05UP DecimalException InvalidOperation "
        "DivisionByZero Inexact Rounded Overflow Underflow Subnormal Clamped FloatOperation MAX_PREC MAX_EMAX MIN_EMIN"
    ),
    "uuid": _words("UUID uuid3 uuid4 uuid5 NAMESPACE_DNS NAMESPACE_URL NAMESPACE_OID NAMESPACE_X500 SafeUUID RFC_4122"),
    "zoneinfo": _words("ZoneInfo ZoneInfoNotFoundError"),
    "calendar": _words(
        "monthrange isleap leapdays weekday monthcalendar timegm day_name day_abbr month_name month_abbr Calendar TextCalendar MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY "
        "SATURDAY SUNDAY calendar month"
    ),
    "hashlib": _words(
        "md5 sha1 sha224 sha256 sha384 sha512 sha3_224 sha3_256 sha3_384 sha3_512 blake2b blake2s new algorithms_available algorithms_guaranteed"
    ),
    "re": _words(
        "compile match fullmatch search sub subn split findall finditer escape error PatternError Pattern Match A ASCII I IGNORECASE L LOCALE M MULTILINE S DOTALL "
        "U UNICODE X VERBOSE NOFLAG RegexFlag"
    ),
}

# Names never given, whatever the module.
DOORS = _words("get_type_hints ForwardRef evaluate_forward_ref resolve_name import_module update_wrapper wraps singledispatch make_dataclass")


def grantable(name: str) -> bool:
    """Whether a profile can grant the module at all."""
    top = name.split(".")[0]
    return name == "__future__" or top not in CLOSED_MODULES and not top.startswith("_")


def needs_name(name: str) -> bool:
    """Whether a pattern that names no package is not enough for the module."""
    return name not in PURE


class View:
    """A module in the hands of text. It has no attribute of its own: the evaluation keeps what it stands for."""

    __slots__ = ("__weakref__",)

    def __repr__(self) -> str:
        return "<module>"


# Types whose objects text never holds.
HIDDEN_TYPES = (types.FrameType, types.CodeType, types.TracebackType, types.ModuleType)

# Classes that make such objects, or functions out of code.
HIDDEN_CLASSES = frozenset((*HIDDEN_TYPES, types.FunctionType, type((lambda x: lambda: x)(0).__closure__[0])))  # type: ignore[index]


def is_hidden(value: Any) -> bool:
    """Whether value is a frame, code, a traceback or a module."""
    return isinstance(value, HIDDEN_TYPES)
