import ctypes
import ctypes.util
import struct


class Pair(ctypes.Structure):
    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_char * 4)]


libc = ctypes.CDLL(ctypes.util.find_library("c"), use_errno=True)
libc.strlen.restype = ctypes.c_size_t
print(libc.strlen(b"word"), libc.abs(-3), ctypes.util.find_library("m"), ctypes.util.find_library("there-is-no-such"))
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))(lambda a, b: a[0] - b[0])
numbers = (ctypes.c_int * 4)(3, 1, 2, 0)
libc.qsort(numbers, 4, ctypes.sizeof(ctypes.c_int), compare)
print(list(numbers), bytes(Pair(1, b"abc")) == struct.pack("i4s", 1, b"abc"), ctypes.cast(numbers, ctypes.POINTER(ctypes.c_int))[3], ctypes.string_at(b"abcd", 2))
print(libc.close(99), ctypes.get_errno(), ctypes.pythonapi.Py_IsInitialized())
try:
    ctypes.CDLL("libthere-is-none.so")
except OSError as e:
    print(e)
