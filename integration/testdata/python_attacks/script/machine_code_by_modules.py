# The import of ctypes is one grant, a library by it another.
#| [python.import]
#| "ctypes" = true
#| "_ctypes" = true
#: cdll RuleApiPermissionError call ctypes.CDLL
#: python RuleApiPermissionError call ctypes.CDLL
#: loader RuleApiPermissionError call ctypes.CDLL
#: attribute RuleApiPermissionError call ctypes.CDLL
#: subclass RuleApiPermissionError call ctypes.CDLL
#: dlopen RuleApiPermissionError call ctypes.CDLL
#: cast RuleApiPermissionError call ctypes.cast
#: string_at RuleApiPermissionError call ctypes.string_at
#: memmove RuleApiPermissionError call ctypes.memmove
import ctypes
import _ctypes
from tries import attempt, cat


class Mine(ctypes.CDLL):
    pass


b = ctypes.create_string_buffer(b"x")
attempt("cdll", lambda: ctypes.CDLL(None).system(cat.encode()))
attempt("python", lambda: ctypes.PyDLL(None).system(cat.encode()))
attempt("loader", lambda: ctypes.cdll.LoadLibrary("libc.so.6").system(cat.encode()))
attempt("attribute", lambda: ctypes.cdll["libc.so.6"].system(cat.encode()))
attempt("subclass", lambda: Mine(None).system(cat.encode()))
attempt("dlopen", lambda: _ctypes.dlopen(None, 2))
attempt("cast", lambda: ctypes.cast(b, ctypes.c_void_p))
attempt("string_at", lambda: ctypes.string_at(b))
attempt("memmove", lambda: ctypes.memmove(b, b"y", 1))
