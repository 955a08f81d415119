"""What checked text runs on: one Guard stands as a constant in its code, and every name, attribute, call and operator goes through it.

Text has no name for it: the code that the compiler made holds a placeholder where the Guard of the evaluation is put.
"""

from __future__ import annotations

import abc
import builtins
import functools
import sys
import threading
import types
from typing import Any, Callable, Dict, Iterator, Mapping, MutableMapping, Optional, Tuple

from psb.errors import RuleEvalPermissionError
from psb.evals import made
from psb.evals.budget import Budget, size
from psb.evals.compare import Compare
from psb.evals.forms import Forms
from psb.evals.methods import Methods
from psb.evals.modules import CLOSED_MODULES, DOORS, HIDDEN_CLASSES, PURE, View, is_hidden
from psb.evals.operate import Operators, _length, exponent, is_decimal
from psb.evals.rules import Rules
from psb.evals.shims import Shims
from psb.evals.views import Views
from psb.evals.words import BUILTINS, CLOSED, GUARDED, NEVER, REFERENCES, SEEING, dunder

current = threading.local()  # .budget: of the evaluation that runs in this thread

_ATOMS = frozenset((int, float, bool, type(None), complex))
_SIZED = frozenset((str, bytes, bytearray, list, tuple, dict, set, frozenset))
_DATA = _ATOMS | _SIZED | {range, slice}
_MISSING: Any = object()
_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType, types.ClassMethodDescriptorType)
_RAW = {id(getattr(builtins, n)): n for n in SEEING if hasattr(builtins, n)}
_LAZY = frozenset((map, filter, zip, enumerate, reversed, type(iter(int, 1))))
_INHERITED = (str, bytes, bytearray, int, float, complex, list, tuple, dict, set, frozenset)


class Guard(Operators, Compare, Forms, Methods, Shims, Views):
    """The rules, the budget and the namespace of one evaluation."""

    __slots__ = ("rules", "budget", "globals", "locals", "granted", "table", "only", "views", "floor", "mine", "site", "out_", "ground", "sealed")

    def __init__(
        self,
        rules: Rules,
        globals_: Dict[str, Any],
        locals_: Optional[MutableMapping[str, Any]],
        mine: Any,
        budget: Optional[Budget] = None,
        closed: bool = False,
    ) -> None:
        self.rules = rules
        self.budget = budget or Budget(rules.limits)
        self.globals = globals_
        self.locals = globals_ if locals_ is None else locals_
        self.granted: Dict[int, Any] = {}  # id -> object, which is kept so that no other gets its id
        self.table: Dict[str, Any] = {}
        self.views: Dict[int, Tuple[View, types.ModuleType, bool]] = {}
        self.mine = set(mine)  # names that text binds: what they grant is not decided by the name
        self.floor = -1
        self.out_: Any = None
        self.ground = self.budget.depth
        self.sealed = False  # nothing of the text is to run any more
        own = globals_.get("__builtins__", _MISSING)
        if isinstance(own, types.ModuleType):
            own = own.__dict__
        self.only: Optional[Mapping[str, Any]] = None if closed or own is _MISSING or own is builtins.__dict__ or not isinstance(own, dict) else own

    # Names.

    def top(self, name: str) -> Any:
        """The value of a name outside functions."""
        try:
            v = self.locals[name]
        except KeyError:
            return self.glob(name)
        return v if type(v) in _DATA else self.admit(v, name)

    def glob(self, name: str) -> Any:
        """The value of a name that no function around it binds."""
        v = self.globals.get(name, _MISSING)
        if v is not _MISSING:
            return v if type(v) in _DATA else self.admit(v, name)
        v = self.table.get(name, _MISSING)
        if v is _MISSING:
            v = self.table[name] = self._builtin(name)
        return v

    def _builtin(self, name: str) -> Any:
        if self.only is not None and name not in self.only:
            raise NameError(f"name {name!r} is not defined")
        if name not in BUILTINS:
            if self.only is not None:
                v = self.only[name]
                return v if type(v) in _DATA else self.admit(v, name)
            raise NameError(f"name {name!r} is not defined")
        if not self.rules.builtin(name):
            self.refuse("call", name, f"the built-in {name}")
        v = self.builtin(name)
        self.grant(v)
        return v

    def admit(self, v: Any, name: str) -> Any:
        """v, which a name of the caller or of the text gave, where text may hold it."""
        if is_hidden(v):
            if isinstance(v, types.ModuleType):
                return self.view(v, name)
            self.refuse("", name, f"{name} is a {type(v).__name__}")
        if id(v) in self.granted or type(v) is View or not callable(v):
            return v
        raw = _RAW.get(id(v))
        if raw is not None:
            return self._handed_builtin(raw, name)
        if v is type:
            v = self.builtin("type") if self.rules.builtin("type") else self.refuse("call", "type", "type")
        if name in self.mine:
            if isinstance(v, type) or not isinstance(v, (types.FunctionType, types.BuiltinFunctionType, types.MethodType)):
                return v
            self.judge(v)
        elif made.is_function(v) or made.is_class(v) or made.is_instance(v):
            pass
        elif name not in self.rules.call:
            self.refuse("call", name, f"{name}, which can be called")
        self.grant(v)
        return v

    def _handed_builtin(self, raw: str, name: str) -> Any:
        # The caller's name for a built-in that sees frames or reads attributes: text gets the guarded one, where the profile has both names.
        if raw in NEVER:
            self.refuse("", raw, f"{name} is the built-in {raw}")
        if not self.rules.builtin(raw):
            self.refuse("call", raw, f"{name}, the built-in {raw},")
        if name not in self.mine and name not in self.rules.call:
            self.refuse("call", name, f"{name}, which can be called")
        key = "=" + raw  # no name that text can have
        v = self.table.get(key)
        if v is None:
            v = self.table[key] = self.builtin(raw)
            self.grant(v)
        return v

    def grant(self, v: Any) -> None:
        """Text may call v from now on."""
        self.granted[id(v)] = v

    def refuse(self, key: str, token: str, what: str) -> Any:
        """RuleEvalPermissionError; it names, and never holds, what was reached for."""
        error = RuleEvalPermissionError(f"psb: evaluated text refused: {what}" + (f" is not granted ({key})" if key else ": never granted"))
        error.target, error.key = token, key
        error.hint = self.rules.fix(key, token) if key else ""
        error.denials = (f"eval {key} {token}".replace("  ", " "),)
        raise error

    # Attributes.

    def attr(self, o: Any, name: str) -> Any:
        """o.name, for a name that the profile grants."""
        if name in GUARDED:
            guarded = self.method(o, name)
            if guarded is not None:
                return guarded
        elif name in REFERENCES and isinstance(o, BaseException) and not self.rules.attribute.exactly(name):
            self.refuse("attribute", name, f"the attribute {name} of an exception")
        t = type(o)
        if t is View:
            return self.look(o, name)
        if is_hidden(o):
            if isinstance(o, types.ModuleType):
                return self.look(self.view(o, o.__name__), name)
            self.refuse("", name, f"the inside of a {t.__name__}")
        if name[:2] == "__" and dunder(name):
            return self.special(o, name)
        if name == "register" and isinstance(t, type) and issubclass(t, abc.ABCMeta) and not made.is_class(o):
            self.refuse("", name, f"register of {o.__name__}, which changes it for the whole program")
        if t.__name__ == "ForwardRef":
            self.refuse("", name, "the inside of a ForwardRef")
        return self.out(getattr(o, name))

    def read(self, o: Any, name: Any) -> Any:
        """o.name for a name that only exists now."""
        name = self.readable(name)
        return self.attr(o, name)

    def readable(self, name: Any) -> str:
        """name as a plain string, where the profile grants it; looked at as it is and as the parser would read it."""
        if not isinstance(name, str):
            raise TypeError(f"attribute name must be string, not '{type(name).__name__}'")
        name = str.__str__(name)
        import unicodedata

        for spelt in {name, unicodedata.normalize("NFKC", name)}:
            if spelt in CLOSED:
                self.refuse("", spelt, f"attribute {spelt}")
            if not self.rules.reads(spelt):
                self.refuse("magic" if dunder(spelt) else "attribute", spelt, f"attribute {spelt}")
        return name

    def out(self, v: Any) -> Any:
        """A value on its way to the text: hidden things stop here, memory is counted."""
        t = type(v)
        if t in _ATOMS:
            if t is int and not -(1 << 512) < v < (1 << 512):
                self.budget.charge(v.bit_length() >> 3)
            return v
        if t in _SIZED:
            self.budget.charge(size(v))
            return v
        if is_hidden(v):
            if isinstance(v, types.ModuleType) and self.rules.module(v.__name__):
                return self.view(v, v.__name__)
            self.refuse("", t.__name__, f"a {t.__name__}")
        if v is type:
            return self.builtin("type") if self.rules.builtin("type") else self.refuse("call", "type", "type")
        if t is type and v in HIDDEN_CLASSES:
            self.refuse("", v.__name__, f"the class {v.__name__}")
        if t is types.BuiltinFunctionType or t is types.FunctionType:
            raw = _RAW.get(id(v))
            if (raw is not None and not (raw == "open" and self.rules.builtin("open"))) or v.__name__ in DOORS:
                self.refuse("", v.__name__, f"the function {v.__name__}")
        return v

    # Calls.

    def call(self, f: Any, /, *a: Any, **k: Any) -> Any:
        """f(*a, **k), where text may call f."""
        t = type(f)
        if t is types.FunctionType:
            code = f.__code__
            if made.is_code(code):
                return f(*a, **k)
            if id(code) in made.OURS:
                return self.out(f(*a, **k))
        if isinstance(f, type):
            build = self.constructor(f)
            if build is not None:
                return build(*a, **k)
            if issubclass(f, type):
                self.refuse("", f.__name__, f"the class of classes {f.__name__}")
            self.budget.charge(64)
            if f.__name__ == "Fraction" and a and isinstance(a[0], str):
                self.budget.bits(4 * exponent(a[0]))
        self.judge(f)
        if t is not types.BuiltinFunctionType or f.__self__ is not builtins:
            a = tuple([x if type(x) in _DATA and type(x) is not range else self.handed(x, f) for x in a])
            for x in k.values():
                if type(x) not in _DATA:
                    self.handed(x, f)
            self.asked(f, a)
        v = self.out(f(*a, **k))
        if isinstance(f, type) and type(v) is f and callable(v) and not made.is_class(f):
            self.grant(v)  # a new object of a class that text may make; what a function gives may be anything it was given
        return v

    def handed(self, x: Any, f: Any) -> Any:
        """x as an argument of f, which is not the text's: f may go through it, or call it."""
        t = type(x)
        if t is range:
            if getattr(f, "__module__", "") != "random" and type(getattr(f, "__self__", None)).__module__ != "random":
                self.budget.turn(_length(x))
        elif is_decimal(x):
            if x.is_finite():
                self.budget.bits(4 * max(0, x.adjusted()))
        elif t in _LAZY or t.__module__ == "itertools":
            return self.lazy(x)
        elif callable(x) and not (isinstance(x, type) and self.constructor(x) is not None):
            self.judge(x)
        return x

    def given(self, v: Any) -> Any:
        """An object that a guard itself made for the text."""
        self.grant(v)
        return v

    def judge(self, f: Any) -> None:
        """Raises where text may not call f."""
        if id(f) in self.granted or made.is_function(f):
            return
        t = type(f)
        key, name = "call", getattr(f, "__name__", None)
        if t is types.MethodType:
            if made.is_function(f.__func__):
                return
            owner = f.__self__ if isinstance(f.__self__, type) else type(f.__self__)
            if made.is_class(owner) and not _inherits(owner, f.__func__):
                return self.judge(f.__func__)  # a function of somebody else's that text put into its class
            key = "attribute"
        elif t is types.BuiltinFunctionType and f.__self__ is not None and not isinstance(f.__self__, types.ModuleType):
            key = "attribute"
            if name in GUARDED and isinstance(f.__self__, _INHERITED):
                self.refuse("", str(name), f"{name} that was not read from its object")
        elif t in _METHODS:
            key = "attribute"
        elif isinstance(f, type):
            if f in HIDDEN_CLASSES:
                self.refuse("", f.__name__, f"the class {f.__name__}")
            if made.is_class(f) or f in _SAFE_TYPES:
                return
        elif t is functools.partial:
            return self.judge(f.func)
        elif made.is_class(t):
            return
        elif not callable(f):
            return
        elif t is not types.FunctionType and t is not types.BuiltinFunctionType:
            name = t.__name__
        if id(f) in _RAW:
            self.refuse("", str(name), f"the built-in {name}")
        if not isinstance(name, str):
            self.refuse("", t.__name__, f"a call of a {t.__name__}")
        elif key == "attribute":
            if not self.rules.reads(name):
                self.refuse("magic" if dunder(name) else key, name, f"a call of the method {name}")
        elif t is types.FunctionType and self.rules.attribute.exactly(name) and name not in DOORS:
            pass  # a static method, read by its granted name
        elif name not in self.rules.call or name in DOORS or not (self.rules.call.exactly(name) or _pure(f)):
            self.refuse(key, name, f"a call of {name}")

    def fn(self, f: Any) -> Any:
        """A callable that something else will call for the text."""
        if f is None:
            return None
        if isinstance(f, type) and (f is type or self.constructor(f) is not None):

            def build(*a: Any, **k: Any) -> Any:
                return self.call(f, *a, **k)

            return made.guard(build)  # type: ignore[arg-type]
        self.judge(f)
        return self.asking(f) or f

    def deco(self, f: Any) -> Callable[[Any], Any]:
        """A decorator: it is called as any function."""
        return lambda v: self.call(f, v)

    # Turns, depth, ends.

    def tick(self) -> None:
        b = self.budget
        b.turns += 1
        if b.turns > b.next:
            b._look()

    def enter(self) -> int:
        """The start of a function of the text; gives what leave takes."""
        b = self.budget
        if getattr(current, "budget", None) is not b:
            b = self._wake()
        b.turns += 1
        if b.turns > b.next:
            b._look()
        d = b.depth
        if d >= b.limits.max_call_depth:
            b.end("max_call_depth", f"more than {b.limits.max_call_depth} calls inside each other")
        b.depth = d + 1
        return d

    def leave(self, d: int) -> None:
        """The end of that function."""
        self.budget.depth = d
        if d == self.floor:
            self._sleep()

    def lam(self, f: Any) -> Any:
        """A lambda, which has no place for a start and an end of its own."""

        def function(*a: Any, **k: Any) -> Any:
            d = self.enter()
            try:
                return f(*a, **k)
            finally:
                self.leave(d)

        self.budget.charge(300)
        function.__name__ = function.__qualname__ = "<lambda>"
        function.__wrapped__ = f  # type: ignore[attr-defined]
        return made.guard(function)  # type: ignore[arg-type]

    def _wake(self) -> Budget:
        # A function that outlived its evaluation: it counts in the evaluation that calls it, or, called by the program, in one of its own.
        running: Optional[Budget] = getattr(current, "budget", None)
        if running is None:
            if self.sealed:
                self.budget.end("timeout", "the evaluation is over")
            self.budget = current.budget = Budget(self.rules.limits)
            self.floor = 0
        elif running is not self.budget:
            self.budget = running
        return self.budget

    def _sleep(self) -> None:
        self.floor = -1
        current.budget = None

    def suspend(self, d: int, value: Any) -> Any:
        """A generator gives value to who called it."""
        self.budget.depth = d
        return value

    def resume(self, sent: Any, d: int) -> Any:
        """A generator goes on."""
        return sent

    def unwind(self, d: int = -1) -> None:
        """The start of a handler or of a finally block: a limit that was reached is not to be swallowed."""
        b = self.budget
        if b.ended:
            b.end(*b.ended)
        error = sys.exc_info()[1]
        if type(error) is KeyboardInterrupt:
            b.ended = ("timeout", "an interrupt")
            b.next = -1
            raise error
        if d != -2:
            b.depth = self.ground if d == -1 else d + 1

    # Iteration.

    def each(self, it: Any, cost: int = 0) -> Iterator[Any]:
        """The iterator of it, whose turns are counted, with bytes for each."""
        return self._each(iter(it), cost)

    def _each(self, it: Iterator[Any], cost: int) -> Iterator[Any]:
        b = self.budget
        for x in it:
            b.turns += 1
            if b.turns > b.next:
                b._look()
            if cost:
                b.charge(cost)
            yield x

    def _costed(self, it: Iterator[Any]) -> Iterator[Any]:
        b = self.budget
        for x in it:
            b.charge(40)
            yield x

    def lazy(self, it: Any) -> Iterator[Any]:
        """it as an iterator that counts; a generator of the text counts by itself."""
        if type(it) is types.GeneratorType and (made.is_code(it.gi_code) or id(it.gi_code) in made.OURS):
            return it
        return self._each(iter(it), 0)

    def feed(self, it: Any) -> Any:
        """it, safe to be gone through by C: what is whole is counted at once, what is made on the way at each step, and becomes a list."""
        if type(it) in _SIZED:
            self.budget.turn(len(it))
            return it
        if type(it) is range:
            n = _length(it)
            self.budget.turn(n)
            self.budget.charge(8 * n)
            return it
        return list(self._costed(self.lazy(it)))

    def stream(self, it: Any) -> Any:
        """As feed, for C that keeps nothing of it."""
        if type(it) in _SIZED:
            self.budget.turn(len(it))
            return it
        if type(it) is range:
            self.budget.turn(_length(it))
            return it
        return self.lazy(it)

    def fed(self, it: Any) -> Iterator[Any]:
        """The iterator of it for targets with a star: each item is whole."""
        return (self.feed(x) for x in iter(it))

    def subject(self, v: Any) -> Any:
        """What match looks at."""
        return self.feed(v) if type(v) is range else v

    def deleg(self, it: Any) -> Any:
        """What yield from goes through."""
        return it if type(it) in (types.GeneratorType, types.CoroutineType) or made.is_instance(it) else self.lazy(it)

    # Items.

    def item(self, box: Any, key: Any) -> Any:
        """box[key]."""
        if type(key) is slice and type(box) in _SIZED:
            n = len(range(*key.indices(len(box))))
            self.budget.charge(n * 8 if type(box) in (list, tuple) else n)
        elif type(key) is not int and type(key) is not str:
            self.even(key)
        v = box[key]
        t = type(v)
        return v if t in _DATA else self.out(v)

    def set_item(self, box: Any, key: Any, value: Any) -> None:
        """box[key] = value, the value last."""
        self.put(value, box, key)

    def hay_in(self, box: Any, x: Any) -> bool:
        """x in box, the box first."""
        return self.contains(x, box)

    def sl(self, a: Any = None, b: Any = None, c: Any = None) -> slice:
        return slice(a, b, c)

    # Classes, with, imports.

    def base(self, b: Any) -> Any:
        """A base of a class of the text."""
        if isinstance(b, type):
            if issubclass(b, (*_INHERITED, type)) or b in (range, slice, memoryview):
                self.refuse("", b.__name__, f"a class derived from {b.__name__}")
            self.judge(b)
        elif not hasattr(type(b), "__mro_entries__"):
            self.refuse("", type(b).__name__, "a base that is no class")
        return b

    def made(self, cls: Any) -> Any:
        """A class the text has made: its special methods are what the text could call itself."""
        made.add_class(cls)
        self.budget.charge(1500)
        for name, v in list(vars(cls).items()):
            if not dunder(name) or name in _ALWAYS_IN_CLASSES:
                continue
            inner = v.__func__ if isinstance(v, (staticmethod, classmethod)) else v
            if any(vars(b).get(name) is v or getattr(b, name, None) is v for b in cls.__mro__[1:]):
                continue  # a metaclass of a granted base put it there
            if isinstance(inner, type) and self.constructor(inner) is not None:
                self.refuse("", name, f"{inner.__name__} as {name}")
            if callable(inner):
                self.judge(inner)
        return cls

    def cm(self, manager: Any) -> Any:
        """What with enters."""
        if not made.is_instance(manager) and id(type(manager)) not in self.granted and "__enter__" not in self.rules.magic:
            self.refuse("magic", "__enter__", f"with on a {type(manager).__name__}")
        return manager

    def defined(self) -> None:
        """A function was defined."""
        self.budget.charge(200)


def _inherits(cls: type, function: Any) -> bool:
    return any(v is function for c in cls.__mro__ if not made.is_own_class(c) for v in list(vars(c).values()))


def _pure(f: Any) -> bool:
    # What a pattern covers: not what the library keeps for other modules than those that compute.
    module = getattr(f, "__module__", None)
    if not isinstance(module, str):
        return True
    top = module.split(".")[0].lstrip("_")
    return module in PURE or top in PURE or top == "builtins" or not (top in CLOSED_MODULES or top in _LIBRARY)


_LIBRARY = frozenset(getattr(sys, "stdlib_module_names", ())) | frozenset(
    "os posix subprocess socket shutil pathlib io signal threading multiprocessing asyncio tempfile http urllib ssl select inspect types sys".split()
)
made.OURS.update((id(Guard._each.__code__), id(Guard._costed.__code__)))
_SAFE_TYPES = frozenset(
    v for n, v in vars(builtins).items() if isinstance(v, type) and (issubclass(v, Exception) or n in ("object",)) and n != "type"
)
_ALWAYS_IN_CLASSES = frozenset(
    "__module__ __qualname__ __doc__ __dict__ __weakref__ __hash__ __annotations__ __annotate__ __annotate_func__ __annotations_cache__ __static_attributes__ "
    "__firstlineno__ __orig_bases__ __parameters__ __classdictcell__ __type_params__ __conditional_annotations__ __slots__ __abstractmethods__".split()
)
