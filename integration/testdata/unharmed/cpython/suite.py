# suite.py FORBIDDEN TEST...: tests of CPython, in this process; before them and after, the modules FORBIDDEN (with commas between, "-" is none) are
# imported.
import sys

from test import support
from test.libregrtest.main import main

try:
    from test.support import os_helper
except ImportError:
    os_helper = support  # until 3.9


def forbidden(when):
    for name in names:
        try:
            __import__(name)
        except ImportError as e:
            print(when, name, type(e).__name__, flush=True)
        else:
            print(when, name, "imported", flush=True)


def unlink(name, unlink=os_helper._unlink):
    # The tests of import remove what they might have left beside the standard library. In a box it lies on a read-only file system,
    # which says so (EROFS) before it looks whether the file is there.
    try:
        unlink(name)
    except OSError as e:
        if e.errno != 30:
            raise


os_helper._unlink = unlink
names = sys.argv.pop(1).strip("-").split(",")
names = [n for n in names if n]
forbidden("before")
try:
    main()
finally:
    forbidden("after")
