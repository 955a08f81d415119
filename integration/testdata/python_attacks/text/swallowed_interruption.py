# Text that takes every exception for its own.
#: exec bounded iiiiii max_iterations|timeout|max_call_depth
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
#--
while True:
    try:
        pass
    finally:
        continue
#--
def g():
    while True:
        try:
            yield 1
        except BaseException:
            pass
for x in g():
    pass
#--
def f():
    try:
        while True:
            pass
    except:
        f()
    finally:
        for _ in iter(int, 1):
            pass
f()
#--
import contextlib
while True:
    with contextlib.suppress(BaseException):
        while True:
            pass
#--
try:
    while True:
        pass
except BaseException:
    print("swallowed")
