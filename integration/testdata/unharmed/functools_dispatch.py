import abc
import contextlib
import contextvars
import functools
import inspect


@functools.singledispatch
def show(x):
    return f"any {x}"


@show.register
def _(x: int):
    return f"int {x}"


@show.register(list)
def _(x):
    return [show(y) for y in x]


class Base(abc.ABC):
    @functools.singledispatchmethod
    def name(self, x):
        return "other"

    @name.register
    def _(self, x: str):
        return x.upper()

    @functools.cached_property
    def once(self):
        print("computed")
        return 1

    @abc.abstractmethod
    def must(self): ...


class Real(Base):
    def must(self):
        return super().name("a")


@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@contextlib.contextmanager
def doing(name):
    print("in", name)
    yield
    print("out", name)


var = contextvars.ContextVar("var", default=0)


def change():
    token = var.set(5)
    inner = var.get()
    var.reset(token)
    return inner, var.get()


print(show([1, "a", [2.5]]), Real().must(), Real().name(3), Real().once, fib(60), fib.cache_info().misses, contextvars.copy_context().run(change), var.get())
with doing("a"), contextlib.suppress(KeyError), contextlib.ExitStack() as stack:
    stack.callback(print, "left")
    raise KeyError("b")
print(inspect.signature(show), inspect.signature(functools.partial(fib, 3)), inspect.getsource(fib).splitlines()[0], functools.reduce(lambda a, b: a * b, range(1, 6)))
try:
    Base()
except TypeError as e:
    print(e)
